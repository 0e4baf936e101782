// SPDX-License-Identifier: Apache-2.0
/// Made-up studies, the same in every run, for tests of files and pages.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "parallel/base/text.h"
#include "trainer/scaling/results.h"

namespace brigade::scaling {

/// Points of one series whose step takes work_ms ((1 - serial) / N + serial) + wire_ms log2 N.
struct SampleSeries {
  std::string name = "tiny dp";
  std::string model = "llama3 tiny";
  std::string peer = "";
  Part wire = Part::kData;
  double work_ms = 96.4;
  double serial = 0.08;
  double wire_ms = 5.3;
};

inline constexpr int64_t kSampleCores = 2;
inline constexpr double kSampleTokens = 8192;

inline double sample_step_ms(const SampleSeries& series, int64_t ranks) {
  const double n = static_cast<double>(ranks);
  const double crowd = std::max(1.0, n / static_cast<double>(kSampleCores));
  return crowd * series.work_ms * ((1 - series.serial) / n + series.serial) +
         crowd * series.wire_ms * std::log2(n);
}

/// A rank's step as stretches of four microbatches, whose parts add up to `step_ms`.
inline std::vector<Stretch> sample_step(const SampleSeries& series,
                                        int64_t rank,
                                        int64_t ranks,
                                        double step_ms) {
  constexpr int64_t kMicrobatches = 4;
  const double wait =
      ranks == 1 ? 0 : 0.01 * static_cast<double>(rank + 1) / static_cast<double>(ranks);
  const double wire = ranks == 1 ? 0 : 0.12 - wait;
  const double compute = 1 - 0.11 - wire - wait;
  std::vector<Stretch> stretches;
  double now = 0;
  const auto add = [&](Part part, double share, int64_t microbatch, std::string label) {
    stretches.push_back({part, now, now + share * step_ms, microbatch, std::move(label)});
    now += share * step_ms;
  };
  add(Part::kLoading, 0.01, -1, "samples");
  for (int64_t i = 0; i < kMicrobatches; ++i) {
    add(Part::kCompute, compute / 12, i, "forward");
    if (ranks > 1) {
      add(series.wire, wire / 8, i, "all_gather 1.2 MiB");
      add(Part::kBubble, wait / 8, i, "wait for a stage");
    }
    add(Part::kCompute, compute / 6, i, "backward");
    if (ranks > 1) {
      add(series.wire, wire / 8, i, "reduce_scatter 1.2 MiB");
      add(Part::kIdle, wait / 8, i, "wait for a slower rank");
    }
  }
  add(Part::kOptimizer, 0.1, -1, "AdamW");
  return stretches;
}

inline Breakdown sum_by_part(const std::vector<Stretch>& stretches) {
  Breakdown parts = {};
  for (const Stretch& stretch : stretches) {
    parts[static_cast<size_t>(stretch.part)] += stretch.end_ms - stretch.begin_ms;
  }
  return parts;
}

inline PointResult sample_point(const SampleSeries& series, int64_t ranks) {
  PointResult result;
  result.point.id = concat(series.name, "-r", ranks);
  std::replace(result.point.id.begin(), result.point.id.end(), ' ', '-');
  result.point.series = series.name;
  result.point.peer = series.peer;
  result.point.ranks = ranks;
  result.point.mesh = concat("pp=1 x dp_replicate=", ranks, " x dp_shard=1 x tp=1");
  result.point.schedule = "1F1B";
  result.point.microbatch_size = 4;
  result.point.global_batch_size = 32;
  result.point.model = series.model;
  result.point.oversubscribed = ranks > kSampleCores;
  const double step = sample_step_ms(series, ranks);
  result.repeats = 3;
  for (int i = 0; i < 12; ++i) {
    result.step_ms.push_back(step * (1 + 0.01 * std::sin(3.7 * i + static_cast<double>(ranks))));
  }
  result.median_step_ms = {step, {step * 0.983, step * 1.021}};
  const double rate = kSampleTokens / step * 1000;
  result.tokens_per_s = {rate, {rate / 1.021, rate / 0.983}};
  for (int64_t rank = 0; rank < ranks; ++rank) {
    result.peak_bytes.push_back(180'000'000 + 31'000'000 / ranks + 1'234'567 * rank);
  }
  if (series.peer.empty()) {
    result.mfu = 0.41 * sample_step_ms(series, 1) / step /
                 static_cast<double>(std::min(ranks, kSampleCores));
    for (int64_t rank = 0; rank < ranks; ++rank) {
      result.one_step.push_back(sample_step(series, rank, ranks, step));
      result.breakdown_by_rank.push_back(sum_by_part(result.one_step.back()));
    }
    result.bytes_by_axis = {{"dp_shard", 0}, {"dp_replicate", 26'214'400 * (ranks - 1)}};
  }
  return result;
}

inline PointResult failed_point(const SampleSeries& series, int64_t ranks) {
  PointResult result = sample_point(series, ranks);
  PointResult failed;
  failed.point = result.point;
  failed.failure = "rank 1 left with exit code 3 after step 4";
  failed.last_lines = {
      "step 3 loss 2.71 <nan> & \"more\"",
      "rank 1: peer lost: rank 0 closed its link while 1,048,576 bytes were expected "
      "from /run/very/long/folder/name/without/a/space/to/break/the/line/at/all"};
  return failed;
}

/// Fits as five sizes or more have them; with fewer, why there are none.
inline std::vector<Fit> sample_fits(const SampleSeries& series, size_t sizes) {
  Fit amdahl;
  amdahl.law = "Amdahl";
  amdahl.formula = "T(N) = T1 ((1 - f) / N + f)";
  Fit usl;
  usl.law = "USL";
  usl.formula = "T(N) = T1 (1 + sigma (N - 1) + kappa N (N - 1)) / N";
  if (sizes < 5) {
    amdahl.why_not = usl.why_not = concat("not identifiable: ", sizes, " sizes, needs 5");
    return {amdahl, usl};
  }
  amdahl.parameters = {{"T1", {series.work_ms, {series.work_ms - 2, series.work_ms + 2}}},
                       {"f", {0.31, {0.27, 0.36}}}};
  amdahl.aicc = -21.4;
  amdahl.held_out_error = 0.061;
  for (double n = 1; n <= 32; n += n < 4 ? 0.5 : 2) {
    amdahl.curve.emplace_back(n, series.work_ms * (0.69 / n + 0.31));
    usl.curve.emplace_back(n, series.work_ms * (1 + 0.2 * (n - 1) + 0.02 * n * (n - 1)) / n);
  }
  usl.parameters = {{"T1", {series.work_ms, {series.work_ms - 3, series.work_ms + 2}}},
                    {"sigma", {0.2, {0.11, 0.24}}},
                    {"kappa", {0.02, {-0.003, 0.041}}}};
  usl.aicc = -24.9;
  usl.held_out_error = 0.043;
  return {amdahl, usl};
}

inline void add_series(Results& results,
                       const SampleSeries& kind,
                       const std::vector<int64_t>& ranks) {
  Series series;
  series.name = kind.name;
  series.base_ranks = ranks.front();
  Ratio ratio;
  ratio.axis = kind.wire == Part::kTensor     ? "tensor"
               : kind.wire == Part::kPipeline ? "pipeline"
                                              : "data";
  for (const int64_t n : ranks) {
    series.points.push_back(results.points.size());
    results.points.push_back(sample_point(kind, n));
    if (n > ranks.front() && kind.peer.empty()) {
      const double speed_up = sample_step_ms(kind, ranks.front()) / sample_step_ms(kind, n);
      const double r = static_cast<double>(n) / static_cast<double>(ranks.front());
      series.karp_flatt.push_back({n, (1 / speed_up - 1 / r) / (1 - 1 / r)});
      ratio.by_ranks.emplace_back(n, 7.2 / static_cast<double>(n));
    }
  }
  series.fits = sample_fits(kind, ranks.size());
  if (kind.peer.empty()) {
    ratio.equal_at = 7.2;
    series.ratios = {ratio};
    series.serial_fraction_of_timeline = 0.112;
  }
  results.series.push_back(series);
}

inline Results sample_frame(std::string study) {
  Results results;
  results.provenance = {std::move(study),
                        "0.6.0",
                        "5f0c1e9a77d20b31",
                        "2 cores, AMD EPYC 7763 64-Core Processor, 24.0 GiB",
                        kSampleCores,
                        "2026-11-30 10:12:00",
                        "2026-11-30 10:19:41",
                        20261130};
  results.warmup_steps = 3;
  results.peaks = {{"float32", 1, 61.3e9}, {"bfloat16", 1, 118.9e9}, {"float32", 2, 117.2e9}};
  return results;
}

/// {dp, tp, pp} x {tiny, small}, 1 and 2 ranks.
inline Results two_rank_study() {
  Results results = sample_frame("laptop");
  add_series(results, {}, {1, 2});
  add_series(results, {"tiny tp", "llama3 tiny", "", Part::kTensor, 96.1, 0.14, 16.2}, {1, 2});
  add_series(results, {"tiny pp", "llama3 tiny", "", Part::kPipeline, 96.9, 0.2, 9.1}, {1, 2});
  add_series(results, {"small dp", "llama3 small", "", Part::kZero, 813.2, 0.03, 21.5}, {1, 2});
  add_series(results, {"small tp", "llama3 small", "", Part::kTensor, 815.9, 0.05, 61.2}, {1, 2});
  add_series(results, {"small pp", "llama3 small", "", Part::kPipeline, 811.4, 0.12, 30.4}, {1, 2});
  return results;
}

/// 16 points, up to 8 ranks on 2 cores, one of which failed.
inline Results oversubscribed_study() {
  Results results = sample_frame("crowd");
  add_series(results, {}, {1, 2, 3, 4, 6, 8});
  add_series(
      results, {"tiny tp", "llama3 tiny", "", Part::kTensor, 96.1, 0.14, 16.2}, {1, 2, 4, 8});
  add_series(
      results, {"tiny pp", "llama3 tiny", "", Part::kPipeline, 96.9, 0.2, 9.1}, {1, 2, 3, 4, 8});
  results.points.push_back(failed_point({}, 7));
  return results;
}

inline Results all_failed_study() {
  Results results = sample_frame("unlucky <&\"'>");
  for (const int64_t ranks : {1, 2, 4}) {
    results.points.push_back(failed_point({}, ranks));
  }
  return results;
}

inline Results one_point_study() {
  Results results = sample_frame("lonely");
  results.scaling = Scaling::kWeak;
  add_series(results, {}, {1});
  return results;
}

/// Brigade beside two peers that report neither memory by part nor a timeline.
inline Results peer_study() {
  Results results = sample_frame("beside others");
  add_series(results, {"small dp", "llama3 small", "", Part::kData, 813.2, 0.03, 21.5}, {1, 2});
  add_series(results, {"ddp small", "llama3 small", "ddp", Part::kData, 901.0, 0.04, 25.0}, {1, 2});
  add_series(
      results, {"fsdp2 small", "llama3 small", "fsdp2", Part::kZero, 955.3, 0.06, 41.0}, {1, 2});
  return results;
}

}  // namespace brigade::scaling
