// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/results_csv.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "parallel/base/text.h"

namespace brigade::scaling {
namespace {

using Fields = std::vector<std::string>;

/// The shortest text that reads back to the same bits.
std::string number(double value) {
  if (!std::isfinite(value)) {
    return "";
  }
  std::array<char, 32> buffer = {};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), end.ptr};
}

Fields header() {
  Fields fields = {"id",
                   "series",
                   "peer",
                   "model",
                   "ranks",
                   "threads",
                   "mesh",
                   "zero_stage",
                   "schedule",
                   "microbatch_size",
                   "global_batch_size",
                   "oversubscribed",
                   "failure",
                   "repeats",
                   "steps",
                   "step_ms",
                   "step_ms_low",
                   "step_ms_high",
                   "tokens_per_s",
                   "tokens_per_s_low",
                   "tokens_per_s_high",
                   "tokens_per_s_per_rank",
                   "mfu",
                   "peak_bytes",
                   "bytes_communicated"};
  for (size_t part = 0; part < kParts; ++part) {
    std::string name = concat(to_string(static_cast<Part>(part)), "_ms");
    std::replace(name.begin(), name.end(), ' ', '_');
    fields.push_back(name);
  }
  return fields;
}

void add_estimate(const Estimate& estimate, Fields& fields) {
  fields.push_back(number(estimate.value));
  fields.push_back(number(estimate.interval.low));
  fields.push_back(number(estimate.interval.high));
}

int64_t sum(const std::map<std::string, int64_t>& counts) {
  int64_t total = 0;
  for (const auto& [axis, count] : counts) {
    total += count;
  }
  return total;
}

void add_measurements(const PointResult& result, Fields& fields) {
  const auto& peaks = result.peak_bytes;
  add_estimate(result.median_step_ms, fields);
  add_estimate(result.tokens_per_s, fields);
  fields.push_back(number(result.tokens_per_s.value / static_cast<double>(result.point.ranks)));
  fields.push_back(result.mfu ? number(*result.mfu) : "");
  fields.push_back(peaks.empty() ? ""
                                 : std::to_string(*std::max_element(peaks.begin(), peaks.end())));
  fields.push_back(result.bytes_by_axis.empty() ? "" : std::to_string(sum(result.bytes_by_axis)));
  for (const double ms : result.breakdown()) {
    fields.push_back(result.breakdown_by_rank.empty() ? "" : number(ms));
  }
}

Fields line(const PointResult& result, size_t columns) {
  const Point& point = result.point;
  Fields fields = {point.id,
                   point.series,
                   point.peer,
                   point.model,
                   std::to_string(point.ranks),
                   std::to_string(point.threads),
                   point.mesh,
                   std::to_string(point.zero_stage),
                   point.schedule,
                   std::to_string(point.microbatch_size),
                   std::to_string(point.global_batch_size),
                   point.oversubscribed ? "1" : "0",
                   result.failure,
                   std::to_string(result.repeats),
                   std::to_string(result.step_ms.size())};
  if (result.failure.empty()) {
    add_measurements(result, fields);
  }
  fields.resize(columns);
  return fields;
}

void append(const Fields& fields, std::string& out) {
  for (size_t i = 0; i < fields.size(); ++i) {
    out += i == 0 ? "" : ",";
    out += csv_field(fields[i]);
  }
  out += "\r\n";
}

}  // namespace

std::string csv_field(std::string_view text) {
  const bool outer_space = !text.empty() && (text.front() == ' ' || text.back() == ' ');
  if (!outer_space && text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(text);
  }
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  }
  return quoted + '"';
}

std::string to_csv(const Results& results) {
  const Fields columns = header();
  std::string out;
  append(columns, out);
  for (const PointResult& result : results.points) {
    append(line(result, columns.size()), out);
  }
  return out;
}

}  // namespace brigade::scaling
