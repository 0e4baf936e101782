// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/step_pieces.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "parallel/base/text.h"
#include "trainer/scaling/attribution.h"

namespace brigade::scaling {
namespace {

Result<void> check_ranks(const std::vector<RankTimeline>& timelines) {
  for (size_t i = 0; i < timelines.size(); ++i) {
    const RankTimeline& timeline = timelines[i];
    if (timeline.rank != static_cast<int64_t>(i) ||
        timeline.ranks != static_cast<int64_t>(timelines.size())) {
      return fail(ErrorCode::kData,
                  concat("a breakdown needs the timelines of all ranks in their order: number ",
                         i,
                         " of ",
                         timelines.size(),
                         " is of rank ",
                         timeline.rank,
                         " of ",
                         timeline.ranks));
    }
  }
  return {};
}

std::map<int32_t, std::vector<Window>> whole_steps(const std::vector<RankTimeline>& timelines) {
  std::map<int32_t, std::vector<Window>> steps;
  for (size_t rank = 0; rank < timelines.size(); ++rank) {
    for (const TimedSpan& span : timelines[rank].spans) {
      if (span.activity == Activity::kStep && span.begin_ns >= timelines[rank].lost_until_ns) {
        std::vector<Window>& windows = steps[span.step];
        if (windows.size() == rank) {  // the ranks before have it, too
          windows.push_back({span.begin_ns, span.end_ns});
        }
      }
    }
  }
  std::erase_if(steps, [&](const auto& step) { return step.second.size() < timelines.size(); });
  return steps;
}

}  // namespace

bool clocks_agree(const std::vector<RankTimeline>& timelines) {
  return timelines.size() == 1 || std::ranges::all_of(timelines, [&](const RankTimeline& timeline) {
           return !timeline.clock.empty() && timeline.clock == timelines.front().clock;
         });
}

StepPieces::StepPieces(const std::vector<RankTimeline>& timelines)
    : timelines_(timelines),
      meetings_(timelines),
      stages_(has_stages(timelines)),
      clocks_agree_(scaling::clocks_agree(timelines)),
      steps_(whole_steps(timelines)) {}

Result<StepPieces> StepPieces::create(const std::vector<RankTimeline>& timelines) {
  if (Result<void> checked = check_ranks(timelines); !checked) {
    return fail(checked.error());
  }
  StepPieces made(timelines);
  if (made.steps_.empty()) {
    return fail(ErrorCode::kData,
                concat("no step is whole in the timelines of all ranks: expected one that each has "
                       "from its beginning to its end; ranks: ",
                       timelines.size()));
  }
  return made;
}

Window StepPieces::window(int32_t step, size_t rank) const {
  const std::vector<Window>& own = steps_.at(step);
  if (!clocks_agree_) {
    return own[rank];
  }
  Window all = own.front();
  for (const Window& window : own) {
    all.begin_ns = std::min(all.begin_ns, window.begin_ns);
    all.end_ns = std::max(all.end_ns, window.end_ns);
  }
  return all;
}

const TimelineGroup* StepPieces::group_of(size_t rank, const TimedSpan& span) const {
  return span.group < 0 ? nullptr : &timelines_[rank].groups[static_cast<size_t>(span.group)];
}

std::vector<StepPieces::Claim> StepPieces::claims(size_t rank, const Window& own) const {
  std::vector<Claim> claims;
  const auto claim = [&](const TimedSpan& span, bool waits, Window time) {
    // What began before the step, or ends after it, is the step's in between.
    time.begin_ns = std::max(time.begin_ns, own.begin_ns);
    time.end_ns = std::min(time.end_ns, own.end_ns);
    if (time.length_ns() > 0) {
      claims.push_back({&span, waits, time});
    }
  };
  for (const TimedSpan& span : timelines_[rank].spans) {
    const TimelineGroup* group = group_of(rank, span);
    if (!is_operation(span.activity)) {
      claim(span, false, {span.begin_ns, span.end_ns});
    } else if (group == nullptr || group->members.size() > 1) {
      claim(span, false, {span.begin_ns, span.posted_ns});
      claim(span, true, {span.wait_ns, span.end_ns});
    }
  }
  return claims;
}

std::vector<Piece> StepPieces::of(int32_t step, size_t rank, int64_t& uncut) const {
  const std::vector<Claim> claims = this->claims(rank, steps_.at(step)[rank]);
  std::vector<Hold> holds;
  for (size_t i = 0; i < claims.size(); ++i) {
    holds.push_back({i, claims[i].time.begin_ns, claims[i].time.end_ns});
  }
  const Window all = window(step, rank);
  std::vector<Piece> pieces;
  for (const Hold& hold : innermost(std::move(holds), all.begin_ns, all.end_ns)) {
    const Window time = {hold.begin_ns, hold.end_ns};
    if (hold.owner == Hold::kNobody || claims[hold.owner].span->activity == Activity::kStep) {
      pieces.push_back({Part::kIdle, time, nullptr});
    } else {
      add(pieces, rank, claims[hold.owner], time, uncut);
    }
  }
  return pieces;
}

void StepPieces::add(std::vector<Piece>& pieces,
                     size_t rank,
                     const Claim& claim,
                     const Window& time,
                     int64_t& uncut) const {
  const TimedSpan& span = *claim.span;
  const TimelineGroup* group = group_of(rank, span);
  Piece piece = {part_of(span.activity), time, &span};
  if (group != nullptr) {
    piece.part = exposed_part(span.activity, *group);
  }
  if (group != nullptr && claim.waits && clocks_agree_) {
    add_wait(pieces, rank, piece, uncut);
  } else {
    pieces.push_back(piece);
  }
}

void StepPieces::add_wait(std::vector<Piece>& pieces,
                          size_t rank,
                          const Piece& wait,
                          int64_t& uncut) const {
  const std::optional<int64_t> could_move = meetings_.could_move_ns(rank, *wait.span);
  uncut += could_move ? 0 : 1;
  const Window& time = wait.time;
  const int64_t cut = std::clamp(could_move.value_or(time.begin_ns), time.begin_ns, time.end_ns);
  if (cut > time.begin_ns) {
    const Part waiting = waiting_part(wait.span->activity, *group_of(rank, *wait.span), stages_);
    pieces.push_back({waiting, {time.begin_ns, cut}, wait.span});
  }
  if (cut < time.end_ns) {
    pieces.push_back({wait.part, {cut, time.end_ns}, wait.span});
  }
}

}  // namespace brigade::scaling
