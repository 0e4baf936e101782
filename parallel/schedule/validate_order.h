// SPDX-License-Identifier: Apache-2.0
/// The part of validate() that looks at order: the tail of a step, each channel, and freedom from
/// deadlock.
///
/// Internal to this module. The schedule's single actions have passed their checks: ids are unique,
/// dependencies exist, every receive has its send.
#pragma once

#include <string>

#include "parallel/schedule/schedule.h"

namespace brigade::schedule {

struct Place {
  size_t rank = 0;
  size_t index = 0;
};

/// "rank 1, action 4: 1B0 (after 1RECV_B0, before 1SEND_B0)".
std::string describe(const Schedule& schedule, Place place);

/// Every rank ends with kTail, once and in order, and does nothing else after it began.
Result<void> check_tail(const Schedule& schedule);

/// Every (sending rank, receiving rank, direction) lists its messages in one order at both ends.
Result<void> check_channels(const Schedule& schedule);

/// Program order, dependencies and send-before-receive together are acyclic. The error lists one
/// wait cycle.
Result<void> check_acyclic(const Schedule& schedule);

}  // namespace brigade::schedule
