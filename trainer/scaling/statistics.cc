// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/statistics.h"

#include <algorithm>
#include <cmath>

#include "parallel/base/check.h"
#include "trainer/scaling/draws.h"

namespace brigade::scaling {
namespace {

constexpr size_t kDraws = 2000;

std::vector<double> pooled(const std::vector<std::vector<double>>& repeats) {
  std::vector<double> all;
  for (const std::vector<double>& repeat : repeats) {
    all.insert(all.end(), repeat.begin(), repeat.end());
  }
  return all;
}

// The order statistic of `rank`, and as a side effect all smaller ones before it.
double nth(std::vector<double>& sample, size_t rank) {
  const auto place = sample.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(sample.begin(), place, sample.end());
  return *place;
}

double quantile_in_place(std::vector<double>& sample, double share) {
  BRIGADE_CHECK(!sample.empty() && share >= 0.0 && share <= 1.0, sample.size(), share);
  const double rank = share * static_cast<double>(sample.size() - 1);
  const auto above = static_cast<size_t>(std::ceil(rank));
  const double high = nth(sample, above);
  const double part = static_cast<double>(above) - rank;
  if (part == 0.0) {
    return high;
  }
  const double low =
      *std::max_element(sample.begin(), sample.begin() + static_cast<std::ptrdiff_t>(above));
  return high - part * (high - low);
}

}  // namespace

double quantile(std::vector<double> sample, double share) {
  return quantile_in_place(sample, share);
}

double median(std::vector<double> sample) {
  return quantile_in_place(sample, 0.5);
}

Estimate median_of(std::span<const double> sample, uint64_t seed) {
  return median_of_repeats({{sample.begin(), sample.end()}}, seed);
}

Estimate median_of_repeats(const std::vector<std::vector<double>>& repeats, uint64_t seed) {
  Estimate estimate = {.value = median(pooled(repeats)), .interval = {}};
  Draws draws(seed, "median");
  std::vector<double> medians;
  std::vector<double> drawn;
  for (size_t draw = 0; draw < kDraws; ++draw) {
    drawn.clear();
    for (size_t count = repeats.size(); count > 0; --count) {
      const std::vector<double>& repeat = repeats[draws.below(repeats.size())];
      for (size_t step = 0; step < repeat.size(); ++step) {
        drawn.push_back(repeat[draws.below(repeat.size())]);
      }
    }
    medians.push_back(quantile_in_place(drawn, 0.5));
  }
  estimate.interval = {.low = quantile(medians, 0.025), .high = quantile(medians, 0.975)};
  return estimate;
}

std::vector<std::vector<double>> split_repeats(std::span<const double> sample, int64_t repeats) {
  const auto count = std::clamp<size_t>(static_cast<size_t>(repeats), 1, sample.size());
  std::vector<std::vector<double>> split;
  for (size_t repeat = 0; repeat < count; ++repeat) {
    const size_t begin = repeat * sample.size() / count;
    const size_t end = (repeat + 1) * sample.size() / count;
    const auto stretch = sample.subspan(begin, end - begin);
    split.emplace_back(stretch.begin(), stretch.end());
  }
  return split;
}

}  // namespace brigade::scaling
