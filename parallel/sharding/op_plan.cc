// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/op_plan.h"

#include "parallel/base/check.h"

namespace brigade::sharding {

std::string_view to_string(CastKind kind) {
  switch (kind) {
    case CastKind::kSlice: return "slice";
    case CastKind::kGather: return "gather";
    case CastKind::kGatherReduced: return "gather_reduced";
    case CastKind::kSliceReduced: return "slice_reduced";
    case CastKind::kMarkReduced: return "mark_reduced";
    case CastKind::kAllReduce: return "all_reduce";
    case CastKind::kReduceScatter: return "reduce_scatter";
    case CastKind::kKeepFirst: return "keep_first";
    case CastKind::kPlace: return "place";
    case CastKind::kAllToAll: return "all_to_all";
    case CastKind::kPermute: return "permute";
  }
  BRIGADE_CHECK(false, "unknown cast kind", static_cast<int>(kind));
}

}  // namespace brigade::sharding
