// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/meetings.h"

#include <algorithm>

namespace brigade::scaling {

Meetings::Meetings(const std::vector<RankTimeline>& timelines) : timelines_(timelines) {
  std::map<TimelineGroup, int64_t> ids;
  for (const RankTimeline& timeline : timelines) {
    std::vector<int64_t>& mine = group_ids_.emplace_back();
    for (const TimelineGroup& group : timeline.groups) {
      mine.push_back(ids.emplace(group, static_cast<int64_t>(ids.size())).first->second);
    }
  }
  for (size_t index = 0; index < timelines.size(); ++index) {
    for (const TimedSpan& span : timelines[index].spans) {
      if (is_operation(span.activity) && span.group >= 0) {
        add(index, span);
      }
    }
  }
}

void Meetings::add(size_t index, const TimedSpan& span) {
  if (span.activity == Activity::kSend) {
    sends_[key_of(index, span)] = &span;
  } else if (!is_message(span.activity)) {
    const int64_t group = group_ids_[index][static_cast<size_t>(span.group)];
    Posted& posted = collectives_[{group, span.sequence}];
    posted.last_ns = posted.members == 0 ? span.begin_ns : std::max(posted.last_ns, span.begin_ns);
    ++posted.members;
  }
}

Meetings::MessageKey Meetings::key_of(size_t index, const TimedSpan& message) const {
  const int64_t group = group_ids_[index][static_cast<size_t>(message.group)];
  const int64_t mine = timelines_[index].rank;
  const bool sends = message.activity == Activity::kSend;
  return {group,
          sends ? mine : message.peer,
          sends ? message.peer : mine,
          message.tag,
          message.sequence};
}

std::optional<int64_t> Meetings::could_move_ns(size_t index, const TimedSpan& span) const {
  if (span.group < 0) {
    return std::nullopt;
  }
  if (span.activity == Activity::kSend) {
    return span.begin_ns;
  }
  if (span.activity == Activity::kReceive) {
    const TimedSpan* send = sender_of(index, span);
    return send == nullptr ? std::nullopt : std::optional(send->begin_ns);
  }
  const auto group = static_cast<size_t>(span.group);
  const auto found = collectives_.find({group_ids_[index][group], span.sequence});
  const size_t members = timelines_[index].groups[group].members.size();
  if (found == collectives_.end() || found->second.members < members) {
    return std::nullopt;
  }
  return found->second.last_ns;
}

const TimedSpan* Meetings::sender_of(size_t index, const TimedSpan& receive) const {
  if (receive.group < 0) {
    return nullptr;
  }
  const auto found = sends_.find(key_of(index, receive));
  return found == sends_.end() ? nullptr : found->second;
}

}  // namespace brigade::scaling
