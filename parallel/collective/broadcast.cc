// SPDX-License-Identifier: Apache-2.0
// Direct: the root sends to all, S(p-1) bytes. The others exchange the bare call, so that every
// pair has compared it.
#include "parallel/collective/call.h"
#include "parallel/collective/plan.h"
#include "parallel/transport/spans.h"

namespace brigade::collective {

Plan plan_broadcast(const Group& group, const Spans& buffer, int root) {
  Plan plan = bare_plan(group, copy_print(Call::kBroadcast, transport::length_of(buffer), 0, root));
  if (group.rank == root) {
    for (Outgoing& outgoing : plan.outgoing) {
      outgoing.bytes = transport::as_const(buffer);
    }
  }
  for (Incoming& incoming : plan.incoming) {
    if (incoming.member == root) {
      incoming.into = buffer;
    }
  }
  return plan;
}

}  // namespace brigade::collective
