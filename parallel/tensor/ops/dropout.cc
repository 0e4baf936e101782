// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/dropout.h"

#include <algorithm>
#include <array>

#include <ATen/ATen.h>

#include "parallel/base/text.h"
#include "parallel/sharding/named_sharding.h"
#include "parallel/tensor/ops/apply.h"

namespace brigade::tensor {
namespace {

/// Which elements of the local piece stay.
at::Tensor kept_elements(const ShardedTensor& x,
                         double rate,
                         const RandomSource& source,
                         std::optional<int64_t> first_row) {
  const sharding::TensorType& type = x.type();
  const Program& program = x.program();
  sharding::Box box =
      sharding::NamedSharding{program.mesh(), type.spec}.box(type.global, program.rank());
  if (first_row) {
    box.dims.at(0) = {*first_row, *first_row + box.dims[0].size()};
  }
  const at::Tensor kept = at::empty(box.shape(), at::kBool);
  const auto threshold = static_cast<float>(rate);
  const auto block = [&](uint64_t seed, uint64_t index, uint32_t step, uint64_t stream) {
    std::array<bool, 4> keep = {};
    std::ranges::transform(philox(seed, index, step, stream), keep.begin(), [&](uint32_t word) {
      return uniform_float(word) >= threshold;
    });
    return keep;
  };
  fill_by_index(Runs(type.global, box), source, "dropout", block, kept.mutable_data_ptr<bool>());
  return kept;
}

}  // namespace

ShardedTensor dropout(const ShardedTensor& x,
                      double rate,
                      const RandomSource& source,
                      std::optional<int64_t> first_row) {
  if (!(rate >= 0 && rate < 1)) {
    throw Exception({ErrorCode::kUsage,
                     concat("dropout ", source.name, ": expected a rate in [0, 1), found ", rate),
                     -1});
  }
  if (rate == 0) {
    return x;
  }
  return apply_to_floats(
      "dropout",
      sharding::Algebra::kSum,
      [&](const at::Tensor& local) {
        return at::mul(at::mul(local, kept_elements(x, rate, source, first_row)), 1 / (1 - rate));
      },
      x);
}

}  // namespace brigade::tensor
