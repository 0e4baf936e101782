// SPDX-License-Identifier: Apache-2.0
/// Planned: an OpPlan made ready for one rank, so that running it decides nothing any more.
///
/// A cast over a group of one moves nothing and is dropped here: what stays of it is the type of
/// its result.
///
/// Lifetime: owned by the Program that planned it, for as long as it lives.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "parallel/sharding/op_plan.h"
#include "parallel/tensor/trace.h"
#include "parallel/tensor/type_record.h"

namespace brigade::tensor {

class Program;
struct Planned;

/// One cast and its dual.
struct PlannedCast {
  sharding::CastStep step;
  sharding::CastStep back;  ///< carries the cotangent of the result to the operand, if it has one
  const TypeRecord* from = nullptr;
  const TypeRecord* to = nullptr;
  const TypeRecord* cotangent = nullptr;  ///< of the result: the dual of `to`; null if it or the
                                          ///< operand has none (has_dual)
  const Planned* cause = nullptr;         ///< op and reason, for the ledger
};

struct PlannedCasts {
  std::vector<PlannedCast> steps;  ///< those over more than one rank
  const TypeRecord* to = nullptr;  ///< the type after all; null if there was no step at all
};

struct Planned {
  std::string op;      ///< "einsum"
  std::string reason;  ///< OpPlan::reason
  std::vector<PlannedCasts> inputs;
  const TypeRecord* local_result = nullptr;
  PlannedCasts output;
  TracedOp traced;

  Planned() = default;
  Planned(const Planned&) = delete;  // its casts point to it
  Planned& operator=(const Planned&) = delete;
};

/// Makes `result` of `plan` for operands of these types, in the order of its inputs. A plan without
/// inputs casts none of them.
void prepare(Program& program,
             const sharding::OpPlan& plan,
             std::span<const TypeRecord* const> operands,
             Planned& result);

/// The cast that carries the cotangent of a cast's result back to its operand, of type `from`.
sharding::CastStep dual_step(const sharding::CastStep& step, const sharding::TensorType& from);

}  // namespace brigade::tensor
