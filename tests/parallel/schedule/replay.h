// SPDX-License-Identifier: Apache-2.0
/// A replay of a schedule in unit time, for tests: forwards and backwards take time, all else none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "parallel/schedule/schedule.h"

namespace brigade::schedule {

struct Replay {
  bool finished = false;
  int64_t makespan = 0;                 ///< until the last backward
  std::vector<int64_t> peak_in_flight;  ///< per rank: forwards done whose backward is not
};

/// Runs each list in order; an action starts when its rank and all its dependencies are done.
inline Replay replay(const Schedule& schedule, int64_t forward_time, int64_t backward_time) {
  const size_t ranks = schedule.per_rank.size();
  std::map<int64_t, int64_t> end_of;
  std::vector<size_t> next(ranks);
  std::vector<int64_t> now(ranks);
  std::vector<int64_t> in_flight(ranks);
  Replay result{false, 0, std::vector<int64_t>(ranks)};
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t rank = 0; rank < ranks; ++rank) {
      while (next[rank] < schedule.per_rank[rank].size()) {
        const Action& action = schedule.per_rank[rank][next[rank]];
        int64_t start = now[rank];
        bool ready = true;
        for (const int64_t id : action.dependencies) {
          const auto end = end_of.find(id);
          ready = ready && end != end_of.end();
          start = ready ? std::max(start, end->second) : start;
        }
        if (!ready) {
          break;
        }
        if (is_compute(action.kind)) {
          const bool forward = action.kind == ActionKind::kForward;
          start += forward ? forward_time : backward_time;
          in_flight[rank] += forward ? 1 : -1;
          result.peak_in_flight[rank] = std::max(result.peak_in_flight[rank], in_flight[rank]);
          result.makespan = std::max(result.makespan, start);
        }
        now[rank] = start;
        end_of[action.id] = start;
        ++next[rank];
        moved = true;
      }
    }
  }
  result.finished = true;
  for (size_t rank = 0; rank < ranks; ++rank) {
    result.finished = result.finished && next[rank] == schedule.per_rank[rank].size();
  }
  return result;
}

}  // namespace brigade::schedule
