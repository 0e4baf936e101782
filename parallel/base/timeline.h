// SPDX-License-Identifier: Apache-2.0
/// Timeline: what one rank's thread does and when, always on. The newest spans, in memory.
///
///   Timeline timeline;
///   {
///     TimelineScope step(&timeline, Activity::kStep, {.step = 7});
///     TimelineScope forward(&timeline, Activity::kForward, {.stage = 0, .microbatch = 3});
///     ...
///   }
///   timeline.spans();   // the forward, then the step: in the order in which they ended
///
/// Spans nest, since they are calls; an instant belongs to the innermost one. Operations of groups
/// leave theirs through collective/recorded_world.h.
///
/// Memory:        kSpanBytes a span, `capacity` of them, reserved once; beyond that the oldest is
///                overwritten and counted.
/// Clock:         steady_clock, which is CLOCK_MONOTONIC: the processes of one machine agree on it.
/// Cost:          two readings of the clock and a copy of 72 bytes a span; no lock, no allocation.
/// Thread safety: belongs to the thread that made it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace brigade {

enum class Activity : uint8_t {
  kStep,      ///< all of one step; what lies in no other span of it was not named
  kLoading,   ///< cutting the step's samples
  kForward,   ///< of one microbatch, or one unit of it
  kBackward,  ///< the same
  kReduce,    ///< summing gradients over the data axes: what the rank does beside its operations
  kGather,    ///< making weights whole over the data axes: likewise
  kMessage,   ///< passing activations or gradients between stages: likewise
  kNorm,      ///< of all gradients, and the decision to go on
  kUpdate,    ///< clipping and the optimizer
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kBroadcast,
  kAllToAll,
  kBarrier,
  kSend,
  kReceive,
};
inline constexpr int kActivities = 17;

/// "forward", "all_gather".
std::string_view to_string(Activity activity);
std::optional<Activity> activity_of(std::string_view name);
/// Something that a group does together, a message too.
constexpr bool is_operation(Activity activity) {
  return activity >= Activity::kAllReduce;
}
constexpr bool is_message(Activity activity) {
  return activity >= Activity::kSend;
}

/// Where in the run something happens; -1: as around it.
struct Place {
  int32_t step = -1;
  int32_t stage = -1;
  int32_t unit = -1;
  int32_t microbatch = -1;
};

/// One thing that the thread did. An operation holds the thread twice: while it is posted, from
/// begin_ns to posted_ns, and while it is waited for, from wait_ns to end_ns. Anything else holds
/// it once, from begin_ns to end_ns.
struct TimedSpan {
  Activity activity = Activity::kStep;
  int16_t group = -1;  ///< index into the timeline's groups; -1: no operation
  int16_t stage = -1;
  int16_t unit = -1;
  int32_t step = -1;
  int32_t microbatch = -1;
  int32_t peer = -1;  ///< of a message: the world rank at its other end
  uint32_t sequence =
      0;              ///< of a collective: how many the group had before; of a message: how many
                      ///< of its tag, direction and peer
  uint64_t tag = 0;   ///< of a message
  int64_t bytes = 0;  ///< of an operation: what the contract's cost calls S
  int64_t begin_ns = 0;
  int64_t posted_ns = 0;
  int64_t wait_ns = 0;  ///< = end_ns where nobody waited
  int64_t end_ns = 0;

  bool operator==(const TimedSpan&) const = default;
};
inline constexpr size_t kSpanBytes = 72;
static_assert(sizeof(TimedSpan) == kSpanBytes);

/// A group whose operations are on the timeline. (name, members, ordinal) is the same on all of its
/// members and no other group's.
struct TimelineGroup {
  std::string name;              ///< its axes, "dp_replicate·dp_shard", or a word: "world"
  std::vector<int64_t> members;  ///< world ranks, in the group's order
  int32_t ordinal = 0;           ///< how many of this name and these members were made before

  bool operator==(const TimelineGroup&) const = default;
  auto operator<=>(const TimelineGroup&) const = default;
};

class Timeline {
 public:
  /// Nanoseconds that never go back.
  using Clock = std::function<int64_t()>;
  static constexpr size_t kDefaultCapacity = size_t{1} << 16;
  static constexpr size_t kMaxGroups = 4096;
  static constexpr int64_t kNothingLost = std::numeric_limits<int64_t>::min();

  /// An empty `clock` is steady_clock.
  explicit Timeline(size_t capacity = kDefaultCapacity, Clock clock = {});

  int64_t now() const { return clock_ ? clock_() : steady_ns(); }
  bool on_own_thread() const { return std::this_thread::get_id() == owner_; }

  /// Spans are added in the order in which they end.
  void add(const TimedSpan& span) noexcept;
  /// -1 beyond kMaxGroups: operations then belong to no group.
  int16_t add_group(std::string name, std::vector<int64_t> members);

  const Place& place() const { return place_; }
  void set_place(const Place& place) { place_ = place; }

  /// The oldest first.
  std::vector<TimedSpan> spans() const;
  const std::vector<TimelineGroup>& groups() const { return groups_; }
  int64_t overwritten() const { return overwritten_; }
  /// Whatever ended later than this is still there.
  int64_t lost_until_ns() const { return lost_until_ns_; }

 private:
  static int64_t steady_ns() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  }

  const std::thread::id owner_ = std::this_thread::get_id();
  const size_t capacity_;
  const Clock clock_;
  Place place_;
  std::vector<TimedSpan> ring_;  // grows to its capacity, which is reserved, then goes round
  size_t oldest_ = 0;
  int64_t overwritten_ = 0;
  int64_t lost_until_ns_ = kNothingLost;
  std::vector<TimelineGroup> groups_;
};

/// A span that is as long as its scope. Spans within take its place over, where they have none.
class [[nodiscard]] TimelineScope {
 public:
  /// A null timeline records nothing.
  TimelineScope(Timeline* timeline, Activity activity, Place place = {});
  ~TimelineScope();
  TimelineScope(const TimelineScope&) = delete;
  TimelineScope& operator=(const TimelineScope&) = delete;

 private:
  Timeline* const timeline_;
  const Activity activity_;
  Place around_;
  int64_t begin_ns_ = 0;
};

/// Where `span` was, as the thread's place is now.
void stamp(TimedSpan& span, const Place& place);

}  // namespace brigade
