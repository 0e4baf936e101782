// SPDX-License-Identifier: Apache-2.0
/// From compute rows to a schedule that can run: sends and receives, the optimizer's tail, ids and
/// dependencies.
///
/// Channel semantics: posting never blocks; a receive is matched by its message (action.h), not by
/// arrival; only a consumer waits. So a receive stands directly before its consumer and a send
/// directly after its producer, and neighbour stages on one rank hand over without a message.
#pragma once

#include <vector>

#include "parallel/schedule/schedule.h"

namespace brigade::schedule {

/// Lowers rows of compute actions (stage and microbatch within `header`, ids and dependencies not
/// looked at). Total: rows that cannot run give a schedule that validate() refuses.
///
/// Dependencies, besides the order of each list: a receive waits for its send; a forward for its
/// receive or, on one rank, for the forward of the stage before; a backward for its own forward and
/// for the gradient likewise; a send for its producer; the reduction for all backwards of its rank.
/// Tied gradients wait for all ranks' reductions, the norm for all ranks' tied gradients, the
/// optimizer for its rank's norm, the gathering for all ranks' optimizers (a tied weight comes from
/// another rank).
Schedule lower(const Header& header, const std::vector<std::vector<Action>>& compute_rows);

}  // namespace brigade::schedule
