// SPDX-License-Identifier: Apache-2.0
// Direct and in place: every member sends its part to all, and parts land where they belong. One
// step, S(p-1)/p bytes sent per member when parts are equal.
#include <utility>

#include "parallel/base/check.h"
#include "parallel/collective/call.h"
#include "parallel/collective/plan.h"
#include "parallel/transport/spans.h"

namespace brigade::collective {

Plan plan_all_gather(const Group& group, const ConstSpans& mine, std::vector<Spans> parts) {
  const size_t self = static_cast<size_t>(group.rank);
  BRIGADE_CHECK(parts.size() == group.members.size(), parts.size(), group.members.size());
  transport::copy(mine, parts[self]);
  std::vector<int64_t> lengths;
  int64_t bytes = 0;
  for (const Spans& part : parts) {
    lengths.push_back(transport::length_of(part));
    bytes += lengths.back();
  }
  Plan plan = bare_plan(group, copy_print(Call::kAllGather, bytes, layout_of(lengths)));
  for (Outgoing& outgoing : plan.outgoing) {
    outgoing.bytes = mine;
  }
  for (Incoming& incoming : plan.incoming) {
    incoming.into = std::move(parts[static_cast<size_t>(incoming.member)]);
  }
  return plan;
}

}  // namespace brigade::collective
