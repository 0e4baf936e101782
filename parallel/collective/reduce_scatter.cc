// SPDX-License-Identifier: Apache-2.0
// Direct exchange: the owner of a slice receives all terms of it and adds them along the tree. One
// step, S(p-1)/p bytes sent per member, one rounding to the wire type.
#include <utility>

#include "parallel/base/check.h"
#include "parallel/collective/call.h"
#include "parallel/collective/plan.h"
#include "parallel/transport/spans.h"

namespace brigade::collective {

Plan plan_reduce_scatter(
    const Group& group, std::vector<ConstSpans> terms, Spans result, DType dtype, ReduceOp op) {
  const size_t self = static_cast<size_t>(group.rank);
  BRIGADE_CHECK(terms.size() == group.members.size(), terms.size(), group.members.size());
  BRIGADE_CHECK(transport::length_of(terms[self]) == transport::length_of(result),
                transport::length_of(terms[self]),
                transport::length_of(result));
  std::vector<int64_t> lengths;
  int64_t bytes = 0;
  for (const ConstSpans& term : terms) {
    lengths.push_back(transport::length_of(term));
    BRIGADE_CHECK(lengths.back() % size_of(dtype) == 0, lengths.back(), dtype);
    bytes += lengths.back();
  }
  Plan plan =
      bare_plan(group, reduction_print(Call::kReduceScatter, dtype, op, bytes, layout_of(lengths)));
  for (Outgoing& outgoing : plan.outgoing) {
    outgoing.bytes = std::move(terms[static_cast<size_t>(outgoing.member)]);
  }
  plan.incoming.clear();
  plan.reduction =
      Reduction{plan.print, std::move(terms[self]), std::move(result), dtype, op, false, false};
  return plan;
}

}  // namespace brigade::collective
