// SPDX-License-Identifier: Apache-2.0
/// Plan of a table lookup, for any sharding of the table.
#pragma once

#include <optional>

#include "parallel/base/result.h"
#include "parallel/mesh/mesh.h"
#include "parallel/sharding/op_plan.h"

namespace brigade::sharding {

/// Rows of `table` (vocabulary, features) by integer `tokens` of any rank: the result has the
/// tokens' dims and the features.
///
/// It is planned as the product of one-hot tokens and the table, the one-hot dim being split as the
/// vocabulary is: a rank looks up the tokens that fall into its rows, zeros elsewhere, and has one
/// term of a sum. `out` says what becomes of it; without `out` the result stays unreduced. Features
/// carry their split. A features' axis that splits the tokens too is resolved by `out`, which keeps
/// it on the tokens: the table is gathered. Tokens are owed no gradient and never cast.
/// OpPlan::inputs: tokens, table.
/// Errors: kType, as plan_einsum.
Result<OpPlan> plan_embedding(const mesh::Mesh& mesh,
                              const TensorType& table,
                              const TensorType& tokens,
                              std::optional<PartitionSpec> out);

}  // namespace brigade::sharding
