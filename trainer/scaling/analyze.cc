// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/analyze.h"

#include <algorithm>
#include <cmath>

#include "parallel/base/philox.h"
#include "parallel/base/text.h"
#include "trainer/scaling/fit.h"
#include "trainer/scaling/karp_flatt.h"
#include "trainer/scaling/ratio.h"
#include "trainer/scaling/serial_fraction.h"
#include "trainer/scaling/statistics.h"

namespace brigade::scaling {
namespace {

// Points and series that share a seed would share their luck.
uint64_t seed_of(uint64_t seed, const std::string& name) {
  return seed ^ random_stream("analyze", name);
}

bool has_times(const PointResult& result) {
  return result.failure.empty() && !result.step_ms.empty();
}

void fail_without_meaning(PointResult& result) {
  for (const double ms : result.step_ms) {
    if (result.failure.empty() && !(ms > 0.0 && std::isfinite(ms))) {
      result.failure = concat("a step time must be a positive number of milliseconds; found ", ms);
    }
  }
}

void fill_medians(PointResult& result, uint64_t seed) {
  Estimate& step = result.median_step_ms;
  if (step.value == 0.0) {
    step = median_of_repeats(split_repeats(result.step_ms, result.repeats),
                             seed_of(seed, result.point.id));
  }
  Estimate& tokens = result.tokens_per_s;
  if (tokens.interval.high == 0.0 && step.interval.low > 0.0) {
    // Tokens of a step are known, so the shortest step has the most a second.
    tokens.interval = {.low = tokens.value * step.value / step.interval.high,
                       .high = tokens.value * step.value / step.interval.low};
  }
}

/// By Point::series, in the order in which points name them.
std::vector<Series> named_by(const std::vector<PointResult>& points) {
  std::vector<Series> all;
  for (size_t index = 0; index < points.size(); ++index) {
    const std::string& name = points[index].point.series;
    auto found = std::find_if(
        all.begin(), all.end(), [&](const Series& series) { return series.name == name; });
    if (found == all.end()) {
      found = all.insert(all.end(), Series{.name = name});
    }
    found->points.push_back(index);
  }
  return all;
}

/// Points with times alone, the fewest ranks first. False when there is none.
bool put_in_order(Series& series, const std::vector<PointResult>& points) {
  std::erase_if(series.points, [&](size_t index) { return !has_times(points[index]); });
  std::stable_sort(series.points.begin(), series.points.end(), [&](size_t one, size_t other) {
    return points[one].point.ranks < points[other].point.ranks;
  });
  if (!series.points.empty()) {
    series.base_ranks = points[series.points.front()].point.ranks;
  }
  return !series.points.empty();
}

Sample sample_of(const PointResult& result) {
  Sample sample = {.ranks = result.point.ranks, .ms = {}};
  for (std::vector<double>& repeat : split_repeats(result.step_ms, result.repeats)) {
    sample.ms.push_back(median(std::move(repeat)));
  }
  return sample;
}

void fill_series(Series& series, const Results& results) {
  std::vector<Sample> samples;
  std::vector<Speed> speeds;
  std::vector<SizedBreakdown> breakdowns;
  for (const size_t index : series.points) {
    const PointResult& result = results.points[index];
    const int64_t ranks = result.point.ranks;
    samples.push_back(sample_of(result));
    speeds.push_back({.ranks = ranks,
                      .value = static_cast<double>(result.point.global_batch_size) /
                               result.median_step_ms.value});
    if (!result.breakdown_by_rank.empty()) {
      breakdowns.push_back({.ranks = ranks, .breakdown = result.breakdown()});
    }
  }
  series.fits = fit_laws(samples, results.scaling, seed_of(results.provenance.seed, series.name));
  series.karp_flatt.clear();
  if (results.scaling != Scaling::kMemoryConstrained) {
    // A sequence of a larger model is more work: speeds would not compare.
    series.karp_flatt = karp_flatt(speeds);
  }
  series.ratios = ratios_of(breakdowns);
  series.serial_fraction_of_timeline = serial_fraction(breakdowns, results.scaling);
}

}  // namespace

void analyze(Results& results) {
  for (PointResult& result : results.points) {
    fail_without_meaning(result);
    if (has_times(result)) {
      fill_medians(result, results.provenance.seed);
    }
  }
  if (results.series.empty()) {
    results.series = named_by(results.points);
  }
  std::erase_if(results.series,
                [&](Series& series) { return !put_in_order(series, results.points); });
  for (Series& series : results.series) {
    fill_series(series, results);
  }
}

}  // namespace brigade::scaling
