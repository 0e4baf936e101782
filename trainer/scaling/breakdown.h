// SPDX-License-Identifier: Apache-2.0
/// Where the time of a run's steps went, rank by rank, from the timelines of all ranks.
///
///   Result<std::vector<StepBreakdown>> steps = break_down(timelines);
///   point.breakdown_by_rank = mean_by_rank(*steps);
///   point.one_step = value_or_throw(stretches_of(timelines, steps->back().step));
///
/// A step lasts from the first rank's beginning to the last rank's end, and the parts of every rank
/// add up to that, to the nanosecond. An instant belongs to the innermost span; posting an
/// operation is communication, and waiting in one is cut where its last member had posted it.
/// Operations of one rank alone belong to what is around them.
///
/// Clocks:        of one machine agree. If the timelines name several, no wait is cut, and each
///                rank has a step of its own.
/// Missing:       a wait is not cut when a member's span was overwritten; it is counted.
/// Errors:        kData when the timelines are not those of ranks 0, 1, ... of one world, or hold
///                no step that is whole on all of them.
/// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "parallel/base/result.h"
#include "parallel/base/timeline_file.h"
#include "trainer/scaling/results.h"

namespace brigade::scaling {

struct StepBreakdown {
  int32_t step = 0;
  std::vector<double> step_ms = {};     ///< by rank; alike where clocks agree
  std::vector<Breakdown> by_rank = {};  ///< each adds up to its step_ms
  int64_t uncut_waits = 0;              ///< for want of another rank's span
};

/// Timeline r is rank r's. Steps that are whole on all ranks, in their order.
Result<std::vector<StepBreakdown>> break_down(const std::vector<RankTimeline>& timelines);

/// By rank, what follows what in one step.
Result<std::vector<std::vector<Stretch>>> stretches_of(const std::vector<RankTimeline>& timelines,
                                                       int32_t step);

/// Over the steps, by rank. Means add up to the mean step; medians, part by part, need not.
std::vector<Breakdown> mean_by_rank(std::span<const StepBreakdown> steps);
std::vector<Breakdown> median_by_rank(std::span<const StepBreakdown> steps);

}  // namespace brigade::scaling
