// SPDX-License-Identifier: Apache-2.0
// One message between two members; the others hear nothing of it.
#include <utility>

#include "parallel/collective/call.h"
#include "parallel/collective/plan.h"
#include "parallel/transport/spans.h"

namespace brigade::collective {

Plan plan_send(const Group& /*group*/, ConstSpans buffer, int peer) {
  Plan plan;
  plan.print = copy_print(Call::kMessage, transport::length_of(buffer), 0);
  plan.outgoing.push_back({peer, plan.print, std::move(buffer)});
  plan.may_detach = true;
  return plan;
}

Plan plan_receive(const Group& /*group*/, Spans buffer, int peer) {
  Plan plan;
  plan.print = copy_print(Call::kMessage, transport::length_of(buffer), 0);
  plan.incoming.push_back({peer, plan.print, std::move(buffer)});
  return plan;
}

}  // namespace brigade::collective
