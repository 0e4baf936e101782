// SPDX-License-Identifier: Apache-2.0
#include "parallel/base/timeline_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <span>
#include <sstream>

#include "parallel/base/check.h"
#include "parallel/base/crc32c.h"
#include "parallel/base/text.h"

namespace brigade {
namespace {

std::string row_of(const TimedSpan& span) {
  return concat(to_string(span.activity),
                ',',
                span.group,
                ',',
                span.stage,
                ',',
                span.unit,
                ',',
                span.step,
                ',',
                span.microbatch,
                ',',
                span.peer,
                ',',
                span.sequence,
                ',',
                span.tag,
                ',',
                span.bytes,
                ',',
                span.begin_ns,
                ',',
                span.posted_ns,
                ',',
                span.wait_ns,
                ',',
                span.end_ns,
                '\n');
}

}  // namespace

uint32_t timeline_checksum(std::string_view text) {
  return crc32c(std::as_bytes(std::span<const char>(text)));
}

RankTimeline last_steps(const Timeline& timeline, int64_t steps, const WhoAndWhere& who) {
  RankTimeline result;
  result.rank = who.rank;
  result.ranks = who.ranks;
  result.clock = who.clock;
  result.overwritten = timeline.overwritten();
  result.lost_until_ns = timeline.lost_until_ns();
  result.groups = timeline.groups();
  result.spans = timeline.spans();
  int64_t left = steps;
  for (auto span = result.spans.rbegin(); span != result.spans.rend(); ++span) {
    if (span->activity == Activity::kStep && --left == 0) {
      result.lost_until_ns = std::max(result.lost_until_ns, span->begin_ns);
      break;
    }
  }
  std::erase_if(result.spans,
                [&](const TimedSpan& span) { return span.end_ns <= result.lost_until_ns; });
  return result;
}

std::string clock_of_this_machine() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

std::string timeline_text(const RankTimeline& timeline) {
  std::string text = concat(kTimelineTitle,
                            "\nrank,",
                            timeline.rank,
                            ',',
                            timeline.ranks,
                            "\nclock,",
                            timeline.clock,
                            "\noverwritten,",
                            timeline.overwritten,
                            "\nlost until,",
                            timeline.lost_until_ns,
                            '\n');
  for (const TimelineGroup& group : timeline.groups) {
    BRIGADE_CHECK(group.name.find('\n') == std::string::npos, group.name);
    text += concat("group,",
                   group.ordinal,
                   ',',
                   group.members.size(),
                   ',',
                   join(group.members, " "),
                   ',',
                   group.name,
                   '\n');
  }
  text += concat(kTimelineColumns, '\n');
  for (const TimedSpan& span : timeline.spans) {
    text += row_of(span);
  }
  return text + concat("end,", timeline.spans.size(), ',', timeline_checksum(text), '\n');
}

Result<void> write_timeline(const std::string& path, const RankTimeline& timeline) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << timeline_text(timeline);
  file.close();
  if (!file) {
    return fail(ErrorCode::kIo, concat("cannot write ", path, ": ", std::strerror(errno)));
  }
  return {};
}

Result<RankTimeline> read_timeline(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) {
    text << file.rdbuf();
  }
  if (!file || file.bad() || text.str().empty()) {
    return fail(
        ErrorCode::kIo,
        concat("cannot read ", path, ": ", errno != 0 ? std::strerror(errno) : "it is empty"));
  }
  return parse_timeline(text.str(), path);
}

}  // namespace brigade
