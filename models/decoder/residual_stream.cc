// SPDX-License-Identifier: Apache-2.0
#include "models/decoder/residual_stream.h"

#include "parallel/tensor/casts.h"
#include "parallel/tensor/ops/dropout.h"
#include "parallel/tensor/program.h"

namespace brigade::decoder {

using sharding::PartitionSpec;
using tensor::ShardedTensor;

ResidualStream::ResidualStream(tensor::Program& program, const StagePlace& place)
    : program_(program),
      batch_axes_(place.batch_axes),
      rows_({place.batch_axes}),
      stream_(place.sequence_parallel ? rows_.with_dim(1, {"tp"}) : rows_),
      dtype_(place.dtype),
      seed_(place.seed) {}

sharding::TensorType ResidualStream::type(int64_t batch, int64_t sequence, int64_t dim) const {
  return {dtype_, {batch * program_.mesh().axes_size(batch_axes_), sequence, dim}, stream_};
}

ShardedTensor ResidualStream::ids(const at::Tensor& rows) const {
  const sharding::TensorType type{
      DType::kInt64, {rows.size(0) * program_.mesh().axes_size(batch_axes_), rows.size(1)}, rows_};
  return ShardedTensor(program_, type, rows);
}

ShardedTensor ResidualStream::enter(const ShardedTensor& x, std::string_view reason) const {
  return tensor::reshard(x, rows_.with_reduced({"tp"}), reason);
}

ShardedTensor ResidualStream::drop(const ShardedTensor& x,
                                   double rate,
                                   const std::optional<executor::TrainingPlace>& place,
                                   const std::string& name) const {
  if (!place || rate == 0.0) {
    return x;
  }
  const auto step = static_cast<uint32_t>(place->step);
  return tensor::dropout(x, rate, {.seed = seed_, .name = name, .step = step}, place->first_row);
}

}  // namespace brigade::decoder
