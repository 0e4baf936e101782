// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/lines.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

#include "parallel/base/text.h"

namespace brigade::metrics {
namespace {

std::string fixed(double value, int decimals) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(decimals) << value;
  return out.str();
}

std::string scientific(double value) {
  std::ostringstream out;
  out << std::scientific << std::setprecision(2) << value;
  return out.str();
}

std::string painted(const char* code, const std::string& text, bool colour) {
  return colour ? concat("\033[", code, 'm', text, "\033[0m") : text;
}

constexpr char kGreen[] = "32";
constexpr char kYellow[] = "33";
constexpr char kBlue[] = "34";
constexpr char kRed[] = "31";

}  // namespace

std::string duration_text(double seconds) {
  if (!std::isfinite(seconds)) {
    return "?";
  }
  const auto whole = static_cast<int64_t>(std::llround(std::max(0.0, seconds)));
  std::ostringstream out;
  out << whole / 3600 << ':' << std::setfill('0') << std::setw(2) << whole / 60 % 60 << ':'
      << std::setw(2) << whole % 60;
  return out.str();
}

std::string step_line(const StepRecord& record,
                      int64_t total_steps,
                      double seconds_left,
                      bool colour) {
  constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;
  const std::string total = std::to_string(total_steps);
  std::ostringstream step;
  step << std::setw(static_cast<int>(total.size())) << record.step << '/' << total;
  return concat(
      painted(kRed, concat("step: ", step.str()), colour),
      "  ",
      painted(kGreen, concat("loss: ", fixed(record.loss, 5)), colour),
      "  ",
      painted(kYellow, concat("grad_norm: ", fixed(record.grad_norm, 4)), colour),
      "  lr: ",
      scientific(record.lr),
      "  memory: ",
      fixed(static_cast<double>(record.tensor_bytes) / kGibibyte, 2),
      "GiB  ",
      painted(
          kBlue, concat("tokens/s: ", with_thousands(std::llround(record.tokens_per_s))), colour),
      "  step ms: ",
      fixed(record.step_ms, 1),
      "  left: ",
      duration_text(seconds_left),
      record.skipped ? "  skipped: not finite" : "");
}

std::string validation_line(const ValidationRecord& record) {
  return concat("validation: step ",
                record.step,
                "  loss: ",
                fixed(record.loss, 5),
                "  bits per byte: ",
                fixed(record.bits_per_byte(), 4),
                "  perplexity: ",
                fixed(record.perplexity(), 2));
}

std::string bar(int64_t step, int64_t total_steps) {
  constexpr int64_t kWidth = 40;
  const int64_t total = std::max<int64_t>(1, total_steps);
  const int64_t full = std::clamp<int64_t>(kWidth * step / total, 0, kWidth);
  std::ostringstream out;
  out << '[' << std::string(static_cast<size_t>(full), '#')
      << std::string(static_cast<size_t>(kWidth - full), '-') << "] " << std::setw(3)
      << 100 * step / total << "%  " << step << '/' << total_steps;
  return out.str();
}

}  // namespace brigade::metrics
