// SPDX-License-Identifier: Apache-2.0
/// Runs all that a study has not measured yet, in its order, and keeps each result as it comes.
#pragma once

#include <cstdint>
#include <functional>

#include "parallel/base/result.h"
#include "trainer/study/grid.h"
#include "trainer/study/order.h"
#include "trainer/study/runner.h"
#include "trainer/study/store.h"
#include "trainer/study/study.h"

namespace brigade::study {

/// What a caller may show; every part may be empty.
struct StudyEvents {
  std::function<void(const Turn& turn)> begins = {};
  /// `kept`: it was there already, from an earlier run of the study.
  std::function<void(const Turn& turn, const RunResult& result, bool kept)> ended = {};
};

enum class StudyEnd : uint8_t { kFinished, kStopped };

/// Finished runs are kept, failed ones too unless `again` says to repeat them. A run that fails
/// does not end the study. Those that were kept are told first.
/// Errors: kIo when nothing can be started or written.
Result<StudyEnd> run_study(const Grid& grid,
                           const Study& study,
                           const Store& store,
                           const RunOptions& options,
                           const StudyEvents& events,
                           bool again = false);

/// What has been measured of each point so far (merged()), in the order of grid.points.
std::vector<scaling::PointResult> results_so_far(const Grid& grid,
                                                 const Study& study,
                                                 const Store& store);

}  // namespace brigade::study
