// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/results_json.h"

#include <nlohmann/json.hpp>

#include "trainer/scaling/pretty_json.h"

namespace brigade::scaling {
namespace {

using Json = nlohmann::ordered_json;

template <class T, class Make>
Json list(const std::vector<T>& items, Make make) {
  Json json = Json::array();
  for (const T& item : items) {
    json.push_back(make(item));
  }
  return json;
}

Json optional(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json estimate(const Estimate& value) {
  return {{"value", value.value}, {"low", value.interval.low}, {"high", value.interval.high}};
}

Json breakdown(const Breakdown& parts) {
  Json json = Json::object();
  for (size_t part = 0; part < kParts; ++part) {
    json[std::string(to_string(static_cast<Part>(part)))] = parts[part];
  }
  return json;
}

Json stretch(const Stretch& stretch) {
  return {{"part", to_string(stretch.part)},
          {"begin_ms", stretch.begin_ms},
          {"end_ms", stretch.end_ms},
          {"microbatch", stretch.microbatch},
          {"label", stretch.label}};
}

Json point(const Point& point) {
  return {{"id", point.id},
          {"series", point.series},
          {"peer", point.peer},
          {"ranks", point.ranks},
          {"threads", point.threads},
          {"mesh", point.mesh},
          {"zero_stage", point.zero_stage},
          {"schedule", point.schedule},
          {"microbatch_size", point.microbatch_size},
          {"global_batch_size", point.global_batch_size},
          {"model", point.model},
          {"oversubscribed", point.oversubscribed}};
}

Json point_result(const PointResult& result) {
  Json bytes = Json::object();
  for (const auto& [axis, count] : result.bytes_by_axis) {
    bytes[axis] = count;
  }
  return {{"point", point(result.point)},
          {"failure", result.failure},
          {"last_lines", result.last_lines},
          {"repeats", result.repeats},
          {"step_ms", result.step_ms},
          {"median_step_ms", estimate(result.median_step_ms)},
          {"tokens_per_s", estimate(result.tokens_per_s)},
          {"mfu", optional(result.mfu)},
          {"peak_bytes", result.peak_bytes},
          {"bytes_by_axis", std::move(bytes)},
          {"breakdown_by_rank", list(result.breakdown_by_rank, breakdown)},
          {"one_step", list(result.one_step, [](const std::vector<Stretch>& rank) {
             return list(rank, stretch);
           })}};
}

template <class First>
Json pairs(const std::vector<std::pair<First, double>>& values) {
  return list(values, [](const auto& pair) { return Json::array({pair.first, pair.second}); });
}

Json fit(const Fit& fit) {
  return {{"law", fit.law},
          {"formula", fit.formula},
          {"parameters",
           list(fit.parameters,
                [](const Parameter& parameter) {
                  Json json = {{"name", parameter.name}};
                  json.update(estimate(parameter.estimate));
                  return json;
                })},
          {"aicc", fit.aicc},
          {"held_out_error", fit.held_out_error},
          {"why_not", fit.why_not},
          {"curve", pairs(fit.curve)}};
}

Json series(const Series& series) {
  return {{"name", series.name},
          {"points", series.points},
          {"base_ranks", series.base_ranks},
          {"fits", list(series.fits, fit)},
          {"karp_flatt",
           list(series.karp_flatt,
                [](const KarpFlatt& value) {
                  return Json{{"ranks", value.ranks}, {"serial_fraction", value.serial_fraction}};
                })},
          {"ratios",
           list(series.ratios,
                [](const Ratio& ratio) {
                  return Json{{"axis", ratio.axis},
                              {"by_ranks", pairs(ratio.by_ranks)},
                              {"equal_at", optional(ratio.equal_at)}};
                })},
          {"serial_fraction_of_timeline", optional(series.serial_fraction_of_timeline)}};
}

Json provenance(const Provenance& provenance) {
  return {{"study", provenance.study},
          {"version", provenance.version},
          {"config_hash", provenance.config_hash},
          {"machine", provenance.machine},
          {"cores", provenance.cores},
          {"began", provenance.began},
          {"ended", provenance.ended},
          {"seed", provenance.seed}};
}

Json peak(const Peak& peak) {
  return {{"dtype", peak.dtype}, {"threads", peak.threads}, {"flops_per_s", peak.flops_per_s}};
}

}  // namespace

std::string to_json(const Results& results) {
  return pretty_json({{"format", kResultsFormat},
                      {"provenance", provenance(results.provenance)},
                      {"scaling", to_string(results.scaling)},
                      {"warmup_steps", results.warmup_steps},
                      {"peaks", list(results.peaks, peak)},
                      {"points", list(results.points, point_result)},
                      {"series", list(results.series, series)}});
}

}  // namespace brigade::scaling
