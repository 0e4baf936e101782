// SPDX-License-Identifier: Apache-2.0
/// Which part of a step an activity is (docs/SCALING.md, "Where a step's time goes").
///
/// Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "parallel/base/timeline_file.h"
#include "trainer/scaling/results.h"

namespace brigade::scaling {

/// Of anything but an operation.
Part part_of(Activity activity);

/// What an operation of the group costs the rank that has nothing else to do: communication of the
/// axes that name it. A group of no axis, or one that goes across stages and more, does no work of
/// a step: idle.
Part exposed_part(Activity operation, const TimelineGroup& group);

/// What a rank does in it as long as not all have posted it. `stages`: the world has several.
Part waiting_part(Activity operation, const TimelineGroup& group, bool stages);

/// Whether a group of these timelines joins stages.
bool has_stages(const std::vector<RankTimeline>& timelines);

/// "all_gather dp_shard 1.2 MiB", "forward".
std::string label_of(const TimedSpan& span, const std::vector<TimelineGroup>& groups);

}  // namespace brigade::scaling
