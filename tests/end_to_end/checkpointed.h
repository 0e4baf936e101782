// SPDX-License-Identifier: Apache-2.0
/// Legs of one training, each from the checkpoint of the one before it, on any mesh.
///
///   const TemporaryFolder folder;
///   leg(trial_of({.pp = 2}, model), source, folder, 0, 5);
///   const Outcome rest = leg(trial_of({.tp = 2}, model), source, folder, 5, 10);
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tests/end_to_end/harness.h"

namespace brigade::end_to_end {

/// Steps `from` + 1 to `to` of `trial`, checkpoints in `folder` after the last one, and after
/// others if the trial's settings say so. Fails the test unless it begins at `from`.
Outcome leg(Trial trial,
            const std::shared_ptr<const data::TokenSource>& source,
            const std::string& folder,
            int64_t from,
            int64_t to);

/// What remains of an outcome behind its first `steps` steps.
Outcome after(Outcome outcome, int64_t steps);

}  // namespace brigade::end_to_end
