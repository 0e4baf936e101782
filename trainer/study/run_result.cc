// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/run_result.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "parallel/base/text.h"

namespace brigade::study {

std::string to_json(const RunResult& result) {
  return nlohmann::json({{"format", 1},
                         {"failure", result.failure},
                         {"last_lines", result.last_lines},
                         {"step_ms", result.step_ms},
                         {"peak_bytes", result.peak_bytes},
                         {"bytes_by_axis", result.bytes_by_axis},
                         {"seconds", result.seconds},
                         {"began", result.began}})
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<RunResult> parse_run_result(std::string_view json) {
  try {
    const nlohmann::json read = nlohmann::json::parse(json);
    RunResult result;
    read.at("failure").get_to(result.failure);
    read.at("last_lines").get_to(result.last_lines);
    read.at("step_ms").get_to(result.step_ms);
    read.at("peak_bytes").get_to(result.peak_bytes);
    read.at("bytes_by_axis").get_to(result.bytes_by_axis);
    read.at("seconds").get_to(result.seconds);
    read.at("began").get_to(result.began);
    return result;
  } catch (const nlohmann::json::exception& exception) {
    return fail(ErrorCode::kData, concat("not the result of a run: ", exception.what()));
  }
}

scaling::PointResult merged(const scaling::Point& point, const std::vector<RunResult>& repeats) {
  scaling::PointResult out;
  out.point = point;
  for (const RunResult& run : repeats) {
    if (!run.failure.empty()) {
      continue;
    }
    ++out.repeats;
    out.step_ms.insert(out.step_ms.end(), run.step_ms.begin(), run.step_ms.end());
    out.peak_bytes.resize(std::max(out.peak_bytes.size(), run.peak_bytes.size()));
    for (size_t rank = 0; rank < run.peak_bytes.size(); ++rank) {
      out.peak_bytes[rank] = std::max(out.peak_bytes[rank], run.peak_bytes[rank]);
    }
    for (const auto& [axis, bytes] : run.bytes_by_axis) {
      out.bytes_by_axis[axis] = std::max(out.bytes_by_axis[axis], bytes);
    }
  }
  if (out.repeats == 0) {
    out.failure = repeats.empty() ? "not run" : repeats.front().failure;
    out.last_lines = repeats.empty() ? std::vector<std::string>() : repeats.front().last_lines;
  }
  return out;
}

}  // namespace brigade::study
