// SPDX-License-Identifier: Apache-2.0
/// Plan of an embedding: a lookup of rows whose result is left as it comes.
#pragma once

#include <optional>

#include "parallel/base/result.h"
#include "parallel/mesh/mesh.h"
#include "parallel/sharding/op_plan.h"

namespace brigade::sharding {

/// Rows of `table` (vocabulary, features) by integer `tokens` of any rank: the result has the
/// tokens' dims and the features.
///
/// plan_take along dim 0 (lookup_plan.h), but that without `out` the result keeps the tokens' and
/// the features' splits and stays unreduced over axes that split the vocabulary.
/// OpPlan::inputs: tokens, table.
/// Errors: kType, as plan_take.
Result<OpPlan> plan_embedding(const mesh::Mesh& mesh,
                              const TensorType& table,
                              const TensorType& tokens,
                              std::optional<PartitionSpec> out);

}  // namespace brigade::sharding
