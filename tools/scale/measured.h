// SPDX-License-Identifier: Apache-2.0
/// measured: all that a study has measured so far, with rates, shares of the peak and provenance.
#pragma once

#include <string>
#include <vector>

#include "parallel/base/result.h"
#include "tools/scale/kept_peaks.h"
#include "trainer/scaling/results.h"
#include "trainer/study/grid.h"
#include "trainer/study/store.h"
#include "trainer/study/study.h"

namespace brigade::scale {

/// For each type and number of threads that a point of the study has; those of `known` are taken
/// over.
/// Errors: those of the points' recipes.
Result<Peaks> measure_peaks(const study::Grid& grid, const study::Study& study, Peaks known = {});

/// What a run has to be told so that it leaves a profile of its kept steps.
std::vector<std::string> profile_settings(const study::Study& study);

/// Points with medians, tokens a second, share of the peak, parts of a step; series as the grid has
/// them; no fits yet (scaling::analyze()). Share of the peak: FLOP of the model's step, by its own
/// formula, over the step's time and the peak of as many threads as run at once on this machine.
/// Errors: those of the points' recipes.
Result<scaling::Results> measured(const study::Grid& grid,
                                  const study::Study& study,
                                  const study::Store& store,
                                  const study::StudyFacts& facts,
                                  const Peaks& peaks);

}  // namespace brigade::scale
