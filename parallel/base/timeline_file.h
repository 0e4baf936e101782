// SPDX-License-Identifier: Apache-2.0
/// A rank's timeline as a file, for those who look at all ranks together.
///
///   Result<void> written = write_timeline(path, last_steps(timeline, 9, {.rank = 0, .ranks = 2}));
///   Result<RankTimeline> read = read_timeline(path);
///
/// Text of lines: a title, the facts of RankTimeline, a line a group, the spans as CSV with their
/// column names, and a last line with their number and the CRC-32C of everything above it. So a
/// file that was cut or changed is refused. About 90 bytes a span.
///
/// Errors: kIo when it cannot be opened, read or written; kData, with file and line, when it is not
///         such a file or is damaged.
/// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/base/result.h"
#include "parallel/base/timeline.h"

namespace brigade {

inline constexpr std::string_view kTimelineTitle = "brigade timeline 1";
inline constexpr std::string_view kTimelineColumns =
    "activity,group,stage,unit,step,microbatch,peer,sequence,tag,bytes,begin_ns,posted_ns,wait_ns,"
    "end_ns";

/// What one rank did, as it is passed on.
struct RankTimeline {
  int64_t rank = 0;
  int64_t ranks = 1;        ///< of the world
  std::string clock = "";   ///< ranks that write the same here read the same clock
  int64_t overwritten = 0;  ///< spans that the recorder had no room for
  int64_t lost_until_ns = Timeline::kNothingLost;  ///< whatever ended later is here
  std::vector<TimelineGroup> groups = {};
  std::vector<TimedSpan> spans = {};  ///< in the order in which they ended

  bool operator==(const RankTimeline&) const = default;
};

struct WhoAndWhere {
  int64_t rank = 0;
  int64_t ranks = 1;
  std::string clock = "";
};

/// What ended after the `steps`-th last step began; everything when there were fewer.
RankTimeline last_steps(const Timeline& timeline, int64_t steps, const WhoAndWhere& who);

/// Names the clock of this machine since it was started; "" when the system does not tell.
std::string clock_of_this_machine();

/// Of the lines above the last one.
uint32_t timeline_checksum(std::string_view text);

std::string timeline_text(const RankTimeline& timeline);
/// `path` is for messages.
Result<RankTimeline> parse_timeline(std::string_view text, const std::string& path);

Result<void> write_timeline(const std::string& path, const RankTimeline& timeline);
Result<RankTimeline> read_timeline(const std::string& path);

}  // namespace brigade
