// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/embedding_plan.h"

#include "parallel/base/text.h"
#include "parallel/sharding/lookup_plan.h"
#include "parallel/sharding/type_rule.h"

namespace brigade::sharding {

Result<OpPlan> plan_embedding(const mesh::Mesh& mesh,
                              const TensorType& table,
                              const TensorType& tokens,
                              std::optional<PartitionSpec> out) {
  if (table.global.size() != 2) {
    return fail(ErrorCode::kType,
                concat("embedding: expected a table of 2 dims, found ",
                       table.to_string(),
                       " beside tokens ",
                       tokens.to_string()));
  }
  const PartitionSpec natural = taken_spec(table, tokens, 0);
  if (Result<void> legal = natural.check(mesh, tokens.global.size() + 1); !out && !legal) {
    return fail_type(legal.error().rule,
                     concat("embedding: the result of ",
                            tokens.to_string(),
                            " in ",
                            table.to_string(),
                            " would be illegally sharded: ",
                            legal.error().text,
                            "; say with out= where it stays, or reshard"));
  }
  Result<OpPlan> plan = plan_take(mesh, table, tokens, 0, out.value_or(natural));
  if (!plan) {
    return fail_within("embedding: ", plan.error());
  }
  plan->reason = concat("embedding: table ", table.to_string(mesh));
  return plan;
}

}  // namespace brigade::sharding
