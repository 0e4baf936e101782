// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/breakdown.h"

#include <algorithm>
#include <array>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "trainer/scaling/attribution.h"
#include "trainer/scaling/step_pieces.h"

namespace brigade::scaling {
namespace {

constexpr double kNsPerMs = 1e6;

double to_ms(int64_t ns) {
  return static_cast<double>(ns) / kNsPerMs;
}

Breakdown sum_of(const std::vector<Piece>& pieces) {
  std::array<int64_t, kParts> sums = {};
  for (const Piece& piece : pieces) {
    sums[static_cast<size_t>(piece.part)] += piece.time.length_ns();
  }
  Breakdown breakdown = {};
  std::ranges::transform(sums, breakdown.begin(), to_ms);
  return breakdown;
}

/// One number for each rank and part, out of those of all steps.
template <class Middle>
std::vector<Breakdown> over_steps(std::span<const StepBreakdown> steps, const Middle& middle) {
  std::vector<Breakdown> result(steps.empty() ? 0 : steps.front().by_rank.size());
  for (size_t rank = 0; rank < result.size(); ++rank) {
    for (size_t part = 0; part < kParts; ++part) {
      std::vector<double> values;
      for (const StepBreakdown& step : steps) {
        BRIGADE_CHECK(step.by_rank.size() == result.size(), step.step);
        values.push_back(step.by_rank[rank][part]);
      }
      result[rank][part] = middle(values);
    }
  }
  return result;
}

}  // namespace

Result<std::vector<StepBreakdown>> break_down(const std::vector<RankTimeline>& timelines) {
  const Result<StepPieces> all = StepPieces::create(timelines);
  if (!all) {
    return fail(all.error());
  }
  std::vector<StepBreakdown> steps;
  for (const auto& [number, windows] : all->steps()) {
    StepBreakdown& step = steps.emplace_back();
    step.step = number;
    for (size_t rank = 0; rank < windows.size(); ++rank) {
      step.step_ms.push_back(to_ms(all->window(number, rank).length_ns()));
      step.by_rank.push_back(sum_of(all->of(number, rank, step.uncut_waits)));
    }
  }
  return steps;
}

Result<std::vector<std::vector<Stretch>>> stretches_of(const std::vector<RankTimeline>& timelines,
                                                       int32_t step) {
  const Result<StepPieces> all = StepPieces::create(timelines);
  if (!all) {
    return fail(all.error());
  }
  const auto& steps = all->steps();
  if (!steps.contains(step)) {
    return fail(ErrorCode::kData,
                concat("the timelines hold no whole step ",
                       step,
                       "; they hold steps ",
                       steps.begin()->first,
                       " to ",
                       steps.rbegin()->first));
  }
  std::vector<std::vector<Stretch>> result(timelines.size());
  for (size_t rank = 0; rank < timelines.size(); ++rank) {
    int64_t uncut = 0;
    const int64_t begin_ns = all->window(step, rank).begin_ns;
    for (const Piece& piece : all->of(step, rank, uncut)) {
      Stretch& stretch = result[rank].emplace_back();
      stretch.part = piece.part;
      stretch.begin_ms = to_ms(piece.time.begin_ns - begin_ns);
      stretch.end_ms = to_ms(piece.time.end_ns - begin_ns);
      if (piece.span != nullptr) {
        stretch.microbatch = piece.span->microbatch;
        stretch.label = label_of(*piece.span, timelines[rank].groups);
      }
    }
  }
  return result;
}

std::vector<Breakdown> mean_by_rank(std::span<const StepBreakdown> steps) {
  return over_steps(steps, [](const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) {
      sum += value;
    }
    return sum / static_cast<double>(values.size());
  });
}

std::vector<Breakdown> median_by_rank(std::span<const StepBreakdown> steps) {
  return over_steps(steps, [](std::vector<double> values) {
    std::ranges::sort(values);
    const size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  });
}

}  // namespace brigade::scaling
