// SPDX-License-Identifier: Apache-2.0
/// StepPieces: each rank's time of each step, cut where it passes from one part to another.
/// breakdown.h says by which rules, and adds them up.
///
/// Thread safety: immutable after creation; shared use is safe. The timelines must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "parallel/base/result.h"
#include "parallel/base/timeline_file.h"
#include "trainer/scaling/innermost.h"
#include "trainer/scaling/meetings.h"
#include "trainer/scaling/results.h"

namespace brigade::scaling {

struct Window {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;

  int64_t length_ns() const { return end_ns - begin_ns; }
};

struct Piece {
  Part part = Part::kIdle;
  Window time = {};
  const TimedSpan* span = nullptr;  ///< null: nothing that was named
};

class StepPieces {
 public:
  /// Errors: as breakdown.h.
  static Result<StepPieces> create(const std::vector<RankTimeline>& timelines);

  /// By number, the step's span on each rank: of steps that are whole on all.
  const std::map<int32_t, std::vector<Window>>& steps() const { return steps_; }

  /// What the pieces of a rank fill.
  Window window(int32_t step, size_t rank) const;
  /// Without gaps, in their order. Adds to `uncut` how many waits lack another rank's span.
  std::vector<Piece> of(int32_t step, size_t rank, int64_t& uncut) const;

 private:
  /// A span's claim to the time in which it held the thread: an operation has two.
  struct Claim {
    const TimedSpan* span = nullptr;
    bool waits = false;
    Window time = {};
  };

  explicit StepPieces(const std::vector<RankTimeline>& timelines);

  const TimelineGroup* group_of(size_t rank, const TimedSpan& span) const;
  std::vector<Claim> claims(size_t rank, const Window& own) const;
  void add(std::vector<Piece>& pieces,
           size_t rank,
           const Claim& claim,
           const Window& time,
           int64_t& uncut) const;
  void add_wait(std::vector<Piece>& pieces, size_t rank, const Piece& wait, int64_t& uncut) const;

  const std::vector<RankTimeline>& timelines_;
  const Meetings meetings_;
  const bool stages_;
  const bool clocks_agree_;
  const std::map<int32_t, std::vector<Window>> steps_;
};

/// Whether all timelines name the same clock, or there is but one.
bool clocks_agree(const std::vector<RankTimeline>& timelines);

}  // namespace brigade::scaling
