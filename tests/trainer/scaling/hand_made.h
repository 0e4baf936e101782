// SPDX-License-Identifier: Apache-2.0
/// Timelines written by hand, in milliseconds.
///
///   HandMade rank(0, 2);
///   rank.group("tp", {0, 1}).step(7, 0, 100).does(Activity::kForward, 0, 40);
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "parallel/base/timeline_file.h"

namespace brigade::testing {

inline int64_t ns_of(double ms) {
  return std::llround(ms * 1e6);
}

/// When an operation was posted, and when it was waited for, until its end.
struct Moments {
  double begin = 0;
  double posted = 0;
  double wait = 0;
  double end = 0;
};

class HandMade {
 public:
  HandMade(int64_t rank, int64_t ranks) {
    timeline_.rank = rank;
    timeline_.ranks = ranks;
    timeline_.clock = "one";
  }

  HandMade& group(const std::string& name, std::vector<int64_t> members) {
    timeline_.groups.push_back({name, std::move(members), 0});
    return *this;
  }
  HandMade& clock(const std::string& name) {
    timeline_.clock = name;
    return *this;
  }
  HandMade& lost_until(double ms) {
    timeline_.lost_until_ns = ns_of(ms);
    return *this;
  }
  HandMade& does(Activity activity, double begin, double end, int32_t microbatch = -1) {
    TimedSpan span;
    span.activity = activity;
    span.microbatch = microbatch;
    return add(span, {begin, begin, begin, end});
  }
  HandMade& step(int32_t number, double begin, double end) {
    TimedSpan span;
    span.step = number;
    return add(span, {begin, begin, begin, end});
  }
  HandMade& operation(Activity activity, int16_t group, uint32_t sequence, const Moments& when) {
    TimedSpan span;
    span.activity = activity;
    span.group = group;
    span.sequence = sequence;
    span.bytes = 1024;
    return add(span, when);
  }
  HandMade& message(Activity activity, int32_t peer, uint64_t tag, const Moments& when) {
    TimedSpan span;
    span.activity = activity;
    span.group = 0;
    span.peer = peer;
    span.tag = tag;
    span.bytes = 2048;
    return add(span, when);
  }

  operator RankTimeline() const { return timeline_; }  // NOLINT: it is one

 private:
  HandMade& add(TimedSpan span, const Moments& when) {
    span.begin_ns = ns_of(when.begin);
    span.posted_ns = ns_of(when.posted);
    span.wait_ns = ns_of(when.wait);
    span.end_ns = ns_of(when.end);
    timeline_.spans.push_back(span);
    return *this;
  }

  RankTimeline timeline_;
};

/// 1F1B of two stages and two microbatches: a forward takes 10 ms, a backward 20, a transfer 2, an
/// agreement of all ranks 1 and the update 5. The step takes 100.
inline std::vector<RankTimeline> one_f_one_b() {
  HandMade first(0, 2);
  first.group("pp", {0, 1}).group("world", {0, 1});
  first.does(Activity::kForward, 0, 10, 0)
      .message(Activity::kSend, 1, 0, {10, 10, 64, 64})
      .does(Activity::kForward, 10, 20, 1)
      .message(Activity::kSend, 1, 2, {20, 20, 64, 64})
      .message(Activity::kReceive, 1, 1, {20, 20, 20, 44})
      .does(Activity::kBackward, 44, 64, 0)
      .message(Activity::kReceive, 1, 3, {20, 20, 64, 74})
      .does(Activity::kBackward, 74, 94, 1)
      .operation(Activity::kAllReduce, 1, 0, {94, 94, 94, 95})
      .does(Activity::kUpdate, 95, 100)
      .step(7, 0, 100);
  HandMade last(1, 2);
  last.group("pp", {0, 1}).group("world", {0, 1});
  last.message(Activity::kReceive, 0, 0, {0, 0, 0, 12})
      .does(Activity::kForward, 12, 22, 0)
      .does(Activity::kBackward, 22, 42, 0)
      .message(Activity::kSend, 0, 1, {42, 42, 72, 72})
      .message(Activity::kReceive, 0, 2, {0, 0, 42, 42})
      .does(Activity::kForward, 42, 52, 1)
      .does(Activity::kBackward, 52, 72, 1)
      .message(Activity::kSend, 0, 3, {72, 72, 72, 72})
      .operation(Activity::kAllReduce, 1, 0, {72, 72, 72, 95})
      .does(Activity::kUpdate, 95, 100)
      .step(7, 0, 100);
  return {first, last};
}

}  // namespace brigade::testing
