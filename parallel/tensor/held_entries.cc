// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/held_entries.h"

#include <vector>

#include <ATen/ATen.h>

#include "parallel/base/result.h"
#include "parallel/base/text.h"
#include "parallel/sharding/named_sharding.h"
#include "parallel/tensor/program.h"

namespace brigade::tensor {

void check_indices(std::string_view op, const at::Tensor& indices, int64_t bound) {
  if (indices.numel() == 0) {
    return;
  }
  const auto [least, most] = at::aminmax(indices);
  if (least.item<int64_t>() < 0 || most.item<int64_t>() >= bound) {
    throw Exception({ErrorCode::kData,
                     concat(op,
                            ": expected indices in [0, ",
                            bound,
                            "), found from ",
                            least.item<int64_t>(),
                            " to ",
                            most.item<int64_t>()),
                     -1});
  }
}

HeldEntries::HeldEntries(Program& program,
                         const PlannedCasts& casts,
                         const ShardedTensor& table,
                         int64_t dim) {
  const sharding::TensorType& type = casts.to == nullptr ? table.type() : casts.to->type;
  const auto at = static_cast<size_t>(dim);
  held_ =
      sharding::NamedSharding{program.mesh(), type.spec}.box(type.global, program.rank()).dims[at];
  all_ = type.global[at];
}

LocalIndices HeldEntries::localize(std::string_view op, const at::Tensor& indices) const {
  check_indices(op, indices, all_);
  if (held_.size() == all_) {
    return {indices, {}};
  }
  const at::Tensor outside = at::logical_or(indices < held_.begin, indices >= held_.end);
  return {(indices - held_.begin).masked_fill(outside, 0), outside};
}

at::Tensor HeldEntries::with_an_entry(const at::Tensor& piece, int64_t dim) const {
  if (held_.size() > 0) {
    return piece;
  }
  std::vector<int64_t> edges(static_cast<size_t>(piece.dim() - dim) * 2);  // last dim first
  edges[edges.size() - 1] = 1;
  return at::constant_pad_nd(piece, edges, 0);
}

}  // namespace brigade::tensor
