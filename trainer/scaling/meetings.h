// SPDX-License-Identifier: Apache-2.0
/// Meetings: which spans of different ranks are one operation, and when the last of them began it.
///
///   Meetings meetings(timelines);
///   meetings.could_move_ns(0, receive);   // when its sender had posted it
///
/// Collectives meet by group and number, messages by group, both ends, tag and number.
/// Thread safety: immutable after creation; shared use is safe. The timelines must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "parallel/base/timeline_file.h"

namespace brigade::scaling {

class Meetings {
 public:
  explicit Meetings(const std::vector<RankTimeline>& timelines);

  /// From when on bytes could reach the rank of timelines[index] in `span`, an operation of its:
  /// when the last member had begun to post it; in a receive, its sender; in a send, the rank
  /// itself. None when the span of a member is missing.
  std::optional<int64_t> could_move_ns(size_t index, const TimedSpan& span) const;

  /// The send that `receive` of timelines[index] took; null when it is missing.
  const TimedSpan* sender_of(size_t index, const TimedSpan& receive) const;

 private:
  struct Posted {
    int64_t last_ns = 0;
    size_t members = 0;
  };
  using CollectiveKey = std::pair<int64_t, uint32_t>;                            // group, sequence
  using MessageKey = std::tuple<int64_t, int64_t, int64_t, uint64_t, uint32_t>;  // from, to, tag

  void add(size_t index, const TimedSpan& span);
  MessageKey key_of(size_t index, const TimedSpan& message) const;

  const std::vector<RankTimeline>& timelines_;
  std::vector<std::vector<int64_t>> group_ids_;  // by timeline and its index there: equal on all
  std::map<CollectiveKey, Posted> collectives_;
  std::map<MessageKey, const TimedSpan*> sends_;
};

}  // namespace brigade::scaling
