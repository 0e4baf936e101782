// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/loop_plan.h"

#include "parallel/base/text.h"
#include "parallel/sharding/along_plan.h"
#include "parallel/sharding/shape_rules.h"
#include "parallel/sharding/type_rule.h"

namespace brigade::sharding {

Result<void> check_carry(std::string_view loop,
                         const mesh::Mesh& mesh,
                         int64_t turn,
                         const TensorType& before,
                         const TensorType& after) {
  if (before == after) {
    return {};
  }
  return fail_type(rule::kUnequalOperands,
                   concat(loop,
                          ": turn ",
                          turn,
                          " was given a carry ",
                          before.to_string(mesh),
                          " and hands on ",
                          after.to_string(mesh),
                          "; a carry keeps its type: reshard it at the end of the turn"));
}

Result<TensorType> check_scanned(const mesh::Mesh& mesh, const TensorType& sequence) {
  if (Result<void> legal = check_dim("scan", mesh, sequence, 0); !legal) {
    return fail(legal.error());
  }
  if (Result<void> whole = check_whole("scan", mesh, sequence, 0); !whole) {
    return fail(whole.error());
  }
  Result<OpPlan> turn = plan_unstack(mesh, sequence, 0);
  if (!turn) {
    return fail(turn.error());
  }
  return turn->local_result;
}

}  // namespace brigade::sharding
