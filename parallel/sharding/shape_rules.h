// SPDX-License-Identifier: Apache-2.0
/// What the planners of shape ops share: checks of a dim, plans in which nothing moves, casts to
/// `out`.
///
/// `op` begins all messages: "concat".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/base/result.h"
#include "parallel/mesh/mesh.h"
#include "parallel/sharding/op_plan.h"

namespace brigade::sharding {

/// The operand's spec is legal on the mesh. Errors: kType, as PartitionSpec::check.
Result<void> check_legal(std::string_view op, const mesh::Mesh& mesh, const TensorType& operand);

/// That, and the operand has dim `dim`. Errors: kType.
Result<void> check_dim(std::string_view op,
                       const mesh::Mesh& mesh,
                       const TensorType& operand,
                       int64_t dim);

/// No axis of size above 1 splits `dim`. Errors: kType naming dim, axes, parts, reshard, shard_map.
Result<void> check_whole(std::string_view op,
                         const mesh::Mesh& mesh,
                         const TensorType& operand,
                         size_t dim);

/// A local op on operands as they are.
OpPlan free_plan(size_t operands, TensorType result, std::string reason);

/// The unreduced and reduced sets of `from` with other dims.
PartitionSpec carry_sets(const PartitionSpec& from, const std::vector<AxisNames>& dims);

/// The same plan, its result cast to `out` if there is one.
/// Errors: kType where no rule leads there.
Result<OpPlan> with_out(std::string_view op,
                        const mesh::Mesh& mesh,
                        OpPlan plan,
                        const std::optional<PartitionSpec>& out);

}  // namespace brigade::sharding
