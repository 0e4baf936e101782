// SPDX-License-Identifier: Apache-2.0
// Pairwise and direct, all pairs at once. Lengths differ from pair to pair, so each pair compares
// its own.
#include <utility>

#include "parallel/base/check.h"
#include "parallel/collective/call.h"
#include "parallel/collective/plan.h"
#include "parallel/transport/spans.h"

namespace brigade::collective {

Plan plan_all_to_all(const Group& group, std::vector<ConstSpans> to, std::vector<Spans> from) {
  const size_t self = static_cast<size_t>(group.rank);
  BRIGADE_CHECK(to.size() == group.members.size() && from.size() == group.members.size(),
                to.size(),
                from.size(),
                group.members.size());
  transport::copy(to[self], from[self]);
  int64_t bytes = 0;
  for (const ConstSpans& part : to) {
    bytes += transport::length_of(part);
  }
  Plan plan = bare_plan(group, copy_print(Call::kAllToAll, bytes, 0));
  for (Outgoing& outgoing : plan.outgoing) {
    outgoing.bytes = std::move(to[static_cast<size_t>(outgoing.member)]);
    outgoing.print = copy_print(Call::kAllToAll, transport::length_of(outgoing.bytes), 0);
  }
  for (Incoming& incoming : plan.incoming) {
    incoming.into = std::move(from[static_cast<size_t>(incoming.member)]);
    incoming.print = copy_print(Call::kAllToAll, transport::length_of(incoming.into), 0);
  }
  return plan;
}

}  // namespace brigade::collective
