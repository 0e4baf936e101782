// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/study_run.h"

#include <optional>
#include <utility>
#include <vector>

namespace brigade::study {
namespace {

/// A turn's result if there is one to keep.
std::optional<RunResult> kept(const Grid& grid, const Store& store, const Turn& turn, bool again) {
  std::optional<RunResult> result = store.result(grid.points[turn.point].point.id, turn.repeat);
  return result && again && !result->failure.empty() ? std::nullopt : result;
}

/// Errors: as run_study(). None when it was stopped.
Result<std::optional<RunResult>> run_turn(const PlannedPoint& planned,
                                          int64_t repeat,
                                          const Study& study,
                                          const Store& store,
                                          const RunOptions& options) {
  const Result<std::string> folder = store.begin(planned.point.id, repeat);
  if (!folder) {
    return fail(folder.error());
  }
  Result<std::optional<RunResult>> result = run_point(planned, study, options, *folder);
  if (result && *result) {
    if (const Result<void> written = store.finish(planned.point.id, repeat, **result); !written) {
      return fail(written.error());
    }
  }
  return result;
}

}  // namespace

Result<StudyEnd> run_study(const Grid& grid,
                           const Study& study,
                           const Store& store,
                           const RunOptions& options,
                           const StudyEvents& events,
                           bool again) {
  std::vector<Turn> to_run;
  for (const Turn& turn :
       order_of(grid.points.size(), study.repeats, static_cast<uint64_t>(study.seed))) {
    const std::optional<RunResult> there = kept(grid, store, turn, again);
    if (!there) {
      to_run.push_back(turn);
    } else if (events.ended) {
      events.ended(turn, *there, true);
    }
  }
  for (const Turn& turn : to_run) {
    if (options.stop && options.stop()) {
      return StudyEnd::kStopped;
    }
    if (events.begins) {
      events.begins(turn);
    }
    const Result<std::optional<RunResult>> result =
        run_turn(grid.points[turn.point], turn.repeat, study, store, options);
    if (!result) {
      return fail(result.error());
    }
    if (!*result) {
      return StudyEnd::kStopped;
    }
    if (events.ended) {
      events.ended(turn, **result, false);
    }
  }
  return StudyEnd::kFinished;
}

std::vector<scaling::PointResult> results_so_far(const Grid& grid,
                                                 const Study& study,
                                                 const Store& store) {
  std::vector<scaling::PointResult> out;
  for (const PlannedPoint& planned : grid.points) {
    std::vector<RunResult> repeats;
    for (int64_t repeat = 0; repeat < study.repeats; ++repeat) {
      if (std::optional<RunResult> result = store.result(planned.point.id, repeat)) {
        repeats.push_back(std::move(*result));
      }
    }
    out.push_back(merged(planned.point, repeats));
  }
  return out;
}

}  // namespace brigade::study
