// SPDX-License-Identifier: Apache-2.0
/// Plan of sums by segment.
#pragma once

#include <cstdint>
#include <optional>

#include "parallel/base/result.h"
#include "parallel/mesh/mesh.h"
#include "parallel/sharding/op_plan.h"

namespace brigade::sharding {

/// Row s of the result (segments, features) is the sum of those rows of `values` (n, features)
/// whose id is s; `ids` (n) are integers.
///
/// Values and ids that are split alike leave one term of a sum per rank: `out` says what becomes of
/// it. Where one of them is not split it is cut as the other. Splits of features are carried.
/// OpPlan::inputs: ids, values.
/// Errors: kType naming the operands, the axis and `out=`.
Result<OpPlan> plan_segment_sum(const mesh::Mesh& mesh,
                                const TensorType& values,
                                const TensorType& ids,
                                int64_t segments,
                                const std::optional<PartitionSpec>& out);

}  // namespace brigade::sharding
