// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/profiled.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "trainer/scaling/breakdown.h"

namespace brigade::scaling {
namespace {

void add_memory(PointResult& result, const Profile& profile) {
  result.peak_bytes.resize(profile.ranks.size());
  for (size_t rank = 0; rank < profile.ranks.size(); ++rank) {
    result.peak_bytes[rank] = std::max(result.peak_bytes[rank], profile.ranks[rank].peak_bytes);
  }
}

std::map<std::string, int64_t> bytes_of(const Profile& profile) {
  std::map<std::string, double> sums;
  for (const RankFacts& rank : profile.ranks) {
    for (const auto& [axis, bytes] : rank.bytes_by_axis) {
      sums[axis] += bytes;
    }
  }
  std::map<std::string, int64_t> bytes;
  for (const auto& [axis, sum] : sums) {
    bytes[axis] = std::llround(sum);
  }
  return bytes;
}

/// The longest that a rank took for it.
double length_of(const StepBreakdown& step) {
  return *std::max_element(step.step_ms.begin(), step.step_ms.end());
}

int32_t middle_step(std::vector<StepBreakdown> steps) {
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end(), [](const auto& a, const auto& b) {
    return length_of(a) < length_of(b);
  });
  return middle->step;
}

/// As many of each repeat, the last ones: a long run's first steps may have been overwritten.
std::vector<double> one_after_another(std::vector<std::vector<double>> repeats) {
  size_t fewest = repeats.front().size();
  for (const std::vector<double>& repeat : repeats) {
    fewest = std::min(fewest, repeat.size());
  }
  std::vector<double> all;
  for (const std::vector<double>& repeat : repeats) {
    all.insert(all.end(), repeat.end() - static_cast<std::ptrdiff_t>(fewest), repeat.end());
  }
  return all;
}

}  // namespace

void add_profiles(PointResult& result, const std::vector<Profile>& profiles) {
  std::vector<StepBreakdown> all;
  std::vector<std::vector<double>> lengths;  // of each repeat's steps
  for (const Profile& profile : profiles) {
    if (profile.ranks.size() != profiles.front().ranks.size()) {
      continue;
    }
    if (&profile == &profiles.front()) {
      result.peak_bytes.clear();
    }
    add_memory(result, profile);
    result.bytes_by_axis = bytes_of(profile);
    Result<std::vector<StepBreakdown>> steps = break_down(profile.timelines);
    if (!steps) {
      continue;  // a timeline that ended early: the times of steps are still good
    }
    if (auto stretches = stretches_of(profile.timelines, middle_step(*steps))) {
      result.one_step = std::move(*stretches);
    }
    all.insert(all.end(), steps->begin(), steps->end());
    lengths.emplace_back();
    for (const StepBreakdown& step : *steps) {
      lengths.back().push_back(length_of(step));
    }
  }
  if (!lengths.empty() && std::ssize(lengths) == result.repeats) {
    result.step_ms = one_after_another(std::move(lengths));
  }
  if (!all.empty()) {
    result.breakdown_by_rank = mean_by_rank(all);
  }
}

}  // namespace brigade::scaling
