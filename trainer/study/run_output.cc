// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/run_output.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <optional>

#include <nlohmann/json.hpp>

#include "parallel/base/text.h"

namespace brigade::study {
namespace {

constexpr double kLeastStepMs = 1e-6;
constexpr double kMostStepMs = 3.2e10;
constexpr std::streamoff kMostRead = 1 << 20;
constexpr size_t kLongestLine = 300;

std::string end_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  const auto size = static_cast<std::streamoff>(in.tellg());
  if (!in || size <= 0) {
    return "";
  }
  const std::streamoff begin = std::max<std::streamoff>(0, size - kMostRead);
  std::string text(static_cast<size_t>(size - begin), '\0');
  in.seekg(begin);
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  return text;
}

/// A progress line that was printed over counts as a line.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find_first_of("\r\n", begin), text.size());
    if (end > begin) {
      lines.push_back(text.substr(begin, end - begin));
    }
    begin = end + 1;
  }
  return lines;
}

/// Bytes of the UTF-8 character at `at`; 0 when it is none, or one that moves a terminal's cursor.
size_t character_at(const std::string& line, size_t at) {
  const auto byte = [&line](size_t where) {
    return where < line.size() ? static_cast<unsigned char>(line[where]) : 0U;
  };
  const unsigned first = byte(at);
  if (first < 0x80) {
    return first >= 0x20 && first != 0x7f ? 1 : 0;
  }
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc3 || first > 0xf4) {
    return 0;  // 0xc2 would be a control of Latin-1
  }
  for (size_t next = 1; next < length; ++next) {
    if ((byte(at + next) & 0xc0U) != 0x80) {
      return 0;
    }
  }
  return length;
}

std::string printable(const std::string& line) {
  std::string out;
  for (size_t at = 0; at < line.size();) {
    if (out.size() >= kLongestLine) {
      return out + "...";
    }
    const size_t length = character_at(line, at);
    if (length > 0) {
      out.append(line, at, length);
    } else {
      out += line[at] == '\t' ? ' ' : '?';
    }
    at += std::max<size_t>(1, length);
  }
  return out;
}

nlohmann::json object_in(const std::string& line) {
  nlohmann::json read = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  return read.is_object() ? read : nlohmann::json();
}

double number_in(const nlohmann::json& record, const char* key) {
  const auto found = record.find(key);
  return found != record.end() && found->is_number() ? found->get<double>() : 0;
}

std::string text_in(const nlohmann::json& record, const char* key) {
  const auto found = record.find(key);
  return found != record.end() && found->is_string() ? printable(found->get<std::string>()) : "";
}

constexpr double kMebibyte = 1024.0 * 1024.0;
constexpr double kMostBytes = 0x1p60;

int64_t bytes(double value) {
  return std::isfinite(value) ? std::llround(std::clamp(value, 0.0, kMostBytes)) : 0;
}

Result<RunResult> peer_result(const nlohmann::json& record) {
  if (record.contains("failed")) {
    const std::string message = text_in(record, "message");
    return fail(ErrorCode::kAborted,
                concat("the peer says that it failed: ",
                       text_in(record, "failed"),
                       message.empty() ? "" : ": ",
                       message));
  }
  const double median = number_in(record, "step_ms_median");
  if (!(kLeastStepMs <= median && median <= kMostStepMs)) {
    return fail(
        ErrorCode::kData,
        concat("the peer's JSON has no step_ms_median between a nanosecond and a year: ",
               printable(record.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))));
  }
  RunResult result;
  result.step_ms = {median};
  const auto peaks = record.find("peak_rss_mb_per_rank");
  if (peaks != record.end() && peaks->is_array()) {
    for (const nlohmann::json& peak : *peaks) {
      result.peak_bytes.push_back(bytes(peak.is_number() ? peak.get<double>() * kMebibyte : 0));
    }
  }
  const double sent = number_in(record, "comm_bytes_per_step_all_ranks");
  if (sent > 0) {
    result.bytes_by_axis["all"] = bytes(sent);
  }
  return result;
}

}  // namespace

std::vector<std::string> last_lines(const std::string& path, size_t most) {
  std::vector<std::string> out;
  const std::vector<std::string> lines = lines_of(end_of(path));
  for (size_t at = lines.size() - std::min(most, lines.size()); at < lines.size(); ++at) {
    out.push_back(printable(lines[at]));
  }
  return out;
}

Result<RunResult> read_own_records(const std::string& path, int64_t warmup_steps, int64_t steps) {
  std::ifstream in(path, std::ios::binary);
  std::map<int64_t, double> step_ms;
  double peak = 0;
  for (std::string line; std::getline(in, line);) {
    const nlohmann::json record = object_in(line);
    const auto step = static_cast<int64_t>(number_in(record, "step"));
    const double milliseconds = number_in(record, "step_ms");
    if (milliseconds > 0 && step > warmup_steps && step <= warmup_steps + steps) {
      step_ms[step] = milliseconds;
      peak = std::max(peak, number_in(record, "memory_bytes"));
    }
  }
  if (static_cast<int64_t>(step_ms.size()) != steps) {
    return fail(ErrorCode::kData,
                concat("the run ended, but recorded ",
                       step_ms.size(),
                       " of ",
                       steps,
                       " steps after ",
                       warmup_steps,
                       " of warm-up: ",
                       path));
  }
  RunResult result;
  for (const auto& [step, milliseconds] : step_ms) {
    result.step_ms.push_back(milliseconds);
  }
  if (peak > 0) {
    result.peak_bytes = {bytes(peak)};
  }
  return result;
}

Result<RunResult> read_peer_output(const std::string& path) {
  const std::vector<std::string> lines = lines_of(end_of(path));
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    const nlohmann::json record = object_in(*line);
    if (record.is_object()) {
      return peer_result(record);
    }
  }
  return fail(ErrorCode::kData,
              concat("the peer printed no line that is a JSON object; ",
                     lines.empty() ? "it printed nothing"
                                   : concat("its last line: ", printable(lines.back()))));
}

}  // namespace brigade::study
