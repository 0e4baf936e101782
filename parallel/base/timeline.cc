// SPDX-License-Identifier: Apache-2.0
#include "parallel/base/timeline.h"

#include <algorithm>
#include <array>
#include <utility>

#include "parallel/base/check.h"

namespace brigade {
namespace {

constexpr std::array<std::string_view, kActivities> kNames = {"step",
                                                              "loading",
                                                              "forward",
                                                              "backward",
                                                              "reduce",
                                                              "gather",
                                                              "message",
                                                              "norm",
                                                              "update",
                                                              "all_reduce",
                                                              "reduce_scatter",
                                                              "all_gather",
                                                              "broadcast",
                                                              "all_to_all",
                                                              "barrier",
                                                              "send",
                                                              "receive"};

int32_t either(int32_t mine, int32_t around) {
  return mine >= 0 ? mine : around;
}

Place within(const Place& place, const Place& around) {
  return {either(place.step, around.step),
          either(place.stage, around.stage),
          either(place.unit, around.unit),
          either(place.microbatch, around.microbatch)};
}

}  // namespace

std::string_view to_string(Activity activity) {
  const auto index = static_cast<size_t>(activity);
  return index < kNames.size() ? kNames[index] : "unknown";
}

std::optional<Activity> activity_of(std::string_view name) {
  const auto* const found = std::ranges::find(kNames, name);
  if (found == kNames.end()) {
    return std::nullopt;
  }
  return static_cast<Activity>(found - kNames.begin());
}

Timeline::Timeline(size_t capacity, Clock clock) : capacity_(capacity), clock_(std::move(clock)) {
  BRIGADE_CHECK(capacity >= 1, capacity);
  ring_.reserve(capacity);
}

void Timeline::add(const TimedSpan& span) noexcept {
  if (ring_.size() < capacity_) {
    ring_.push_back(span);
    return;
  }
  TimedSpan& place = ring_[oldest_];
  lost_until_ns_ = std::max(lost_until_ns_, place.end_ns);
  place = span;
  oldest_ = oldest_ + 1 == capacity_ ? 0 : oldest_ + 1;
  ++overwritten_;
}

int16_t Timeline::add_group(std::string name, std::vector<int64_t> members) {
  if (groups_.size() == kMaxGroups) {
    return -1;
  }
  const auto ordinal = std::ranges::count_if(groups_, [&](const TimelineGroup& group) {
    return group.name == name && group.members == members;
  });
  groups_.push_back({std::move(name), std::move(members), static_cast<int32_t>(ordinal)});
  return static_cast<int16_t>(groups_.size() - 1);
}

std::vector<TimedSpan> Timeline::spans() const {
  const auto middle = ring_.begin() + static_cast<std::ptrdiff_t>(oldest_);
  std::vector<TimedSpan> spans(middle, ring_.end());
  spans.insert(spans.end(), ring_.begin(), middle);
  return spans;
}

void stamp(TimedSpan& span, const Place& place) {
  span.step = place.step;
  span.stage = static_cast<int16_t>(place.stage);
  span.unit = static_cast<int16_t>(place.unit);
  span.microbatch = place.microbatch;
}

TimelineScope::TimelineScope(Timeline* timeline, Activity activity, Place place)
    : timeline_(timeline), activity_(activity) {
  if (timeline_ != nullptr) {
    around_ = timeline_->place();
    timeline_->set_place(within(place, around_));
    begin_ns_ = timeline_->now();
  }
}

TimelineScope::~TimelineScope() {
  if (timeline_ == nullptr) {
    return;
  }
  TimedSpan span;
  span.activity = activity_;
  stamp(span, timeline_->place());
  span.begin_ns = begin_ns_;
  span.posted_ns = begin_ns_;
  span.wait_ns = begin_ns_;
  span.end_ns = timeline_->now();
  timeline_->add(span);
  timeline_->set_place(around_);
}

}  // namespace brigade
