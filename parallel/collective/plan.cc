// SPDX-License-Identifier: Apache-2.0
#include "parallel/collective/plan.h"

#include "parallel/collective/call.h"

namespace brigade::collective {

Plan bare_plan(const Group& group, const transport::Fingerprint& print) {
  Plan plan;
  plan.print = print;
  // Starting behind this member spreads the load: not everyone sends to member 0 first.
  for (int step = 1; step < group.size(); ++step) {
    const int member = (group.rank + step) % group.size();
    plan.outgoing.push_back({member, print, {}});
    plan.incoming.push_back({member, print, {}});
  }
  return plan;
}

Plan plan_barrier(const Group& group) {
  return bare_plan(group, copy_print(Call::kBarrier, 0, 0));
}

}  // namespace brigade::collective
