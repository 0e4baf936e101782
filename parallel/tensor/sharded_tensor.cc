// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/sharded_tensor.h"

#include <utility>

#include <ATen/ATen.h>

#include "parallel/base/check.h"
#include "parallel/base/result.h"
#include "parallel/base/text.h"
#include "parallel/sharding/named_sharding.h"
#include "parallel/sharding/picture.h"
#include "parallel/tensor/buffers.h"
#include "parallel/tensor/casts.h"
#include "parallel/tensor/program.h"
#include "parallel/tensor/type_record.h"

namespace brigade::tensor {

using sharding::Box;
using sharding::NamedSharding;
using sharding::PartitionSpec;
using sharding::TensorType;

ShardedTensor::ShardedTensor(Program& program, const TensorType& type, at::Tensor local)
    : ShardedTensor(program, &program.record(type), std::move(local)) {}

ShardedTensor::ShardedTensor(Program& program, const TypeRecord* record, at::Tensor local)
    : program_(&program), record_(record), local_(std::move(local)) {
  const TensorType& type = record->type;
  BRIGADE_CHECK(dtype_of(local_) == type.dtype, local_.scalar_type(), type.to_string());
  BRIGADE_CHECK(
      local_.sizes() == at::IntArrayRef(record->local_shape), local_.sizes(), type.to_string());
}

const TensorType& ShardedTensor::type() const {
  BRIGADE_CHECK(record_ != nullptr, "a tensor that is not defined has no type");
  return record_->type;
}

ShardedTensor ShardedTensor::gradient() const {
  BRIGADE_CHECK(local_.grad().defined(), type().to_string());
  return ShardedTensor(*program_, dual(type()), local_.grad());
}

TensorType dual(const TensorType& type) {
  const PartitionSpec& spec = type.spec;
  if (spec.unreduced().empty() && spec.reduced().empty()) {
    return type;
  }
  if (!has_dual(type)) {
    throw Exception({ErrorCode::kType,
                     concat("no gradient passes through ",
                            type.to_string(),
                            ": its terms are joined by a ",
                            to_string(spec.unreduced_kind()),
                            ", not by a sum; detach the operand first"),
                     -1});
  }
  const sharding::AxisNames was_unreduced = spec.unreduced();
  const sharding::AxisNames was_reduced = spec.reduced();
  return {type.dtype, type.global, spec.with_unreduced(was_reduced).with_reduced(was_unreduced)};
}

bool has_dual(const TensorType& type) {
  return type.spec.unreduced_kind() == sharding::Reduction::kSum;
}

sharding::Shape local_shape(const Program& program, const TensorType& type) {
  return NamedSharding{program.mesh(), type.spec}.local_shape(type.global, program.rank());
}

ShardedTensor distribute(Program& program, const at::Tensor& whole, const PartitionSpec& spec) {
  const TensorType type{dtype_of(whole), whole.sizes().vec(), spec};
  const Box box = NamedSharding{program.mesh(), spec}.box(type.global, program.rank());
  at::Tensor local = whole.detach();
  for (size_t dim = 0; dim < box.dims.size(); ++dim) {
    local = local.narrow(static_cast<int64_t>(dim), box.dims[dim].begin, box.dims[dim].size());
  }
  return ShardedTensor(program, type, local.clone(at::MemoryFormat::Contiguous));
}

at::Tensor collect(const ShardedTensor& tensor) {
  const at::NoGradGuard no_grad;
  // Reduced copies are equal, so they are as good as replicated ones.
  const TensorType type{
      tensor.type().dtype, tensor.type().global, tensor.type().spec.with_reduced({})};
  const ShardedTensor plain(tensor.program(), type, tensor.local().detach());
  return reshard(plain, PartitionSpec(), "collect").local();
}

std::string visualize(const ShardedTensor& tensor, bool colour) {
  const TensorType& type = tensor.type();
  return sharding::visualize(
      NamedSharding{tensor.program().mesh(), type.spec}, type.global, colour);
}

}  // namespace brigade::tensor
