// SPDX-License-Identifier: Apache-2.0
/// add_profiles: what the ranks of a point's runs left of themselves, into its result.
///
///   add_profiles(result, {*read_profile(folder_of_repeat_0), *read_profile(folder_of_repeat_1)});
///
/// Thread safety: pure.
#pragma once

#include <vector>

#include "trainer/scaling/profile_folder.h"
#include "trainer/scaling/results.h"

namespace brigade::scaling {

/// One profile a repeat; none changes nothing. Sets, where the profiles know it:
///   step_ms            where every repeat has one: the steps in it, from the first rank's
///                      beginning to the last rank's end: times and parts are of the same steps
///   breakdown_by_rank  the mean over all their steps and repeats: adds up to the mean step
///   one_step           that step of the last repeat whose length is the middle one
///   peak_bytes         by rank, the most of any repeat
///   bytes_by_axis      of all ranks in one step, the last repeat's
/// Profiles of other numbers of ranks than the first are left out.
void add_profiles(PointResult& result, const std::vector<Profile>& profiles);

}  // namespace brigade::scaling
