// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/records.h"

#include <array>
#include <charconv>
#include <cmath>
#include <numbers>

#include "parallel/base/text.h"

namespace brigade::metrics {
namespace {

std::string number(double value) {
  if (!std::isfinite(value)) {
    return "null";
  }
  std::array<char, 32> buffer = {};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), end.ptr};
}

}  // namespace

double ValidationRecord::bits_per_byte() const {
  return loss / std::numbers::ln2;
}

double ValidationRecord::perplexity() const {
  return std::exp(loss);
}

std::string to_json(const StepRecord& record) {
  return concat("{\"step\": ",
                record.step,
                ", \"loss\": ",
                number(record.loss),
                ", \"grad_norm\": ",
                number(record.grad_norm),
                ", \"lr\": ",
                number(record.lr),
                ", \"tokens_per_s\": ",
                number(record.tokens_per_s),
                ", \"step_ms\": ",
                number(record.step_ms),
                ", \"memory_bytes\": ",
                record.memory_bytes,
                ", \"tensor_bytes\": ",
                record.tensor_bytes,
                ", \"time\": ",
                number(record.time),
                ", \"skipped\": ",
                record.skipped ? "true" : "false",
                '}');
}

std::string to_json(const ValidationRecord& record) {
  return concat("{\"step\": ",
                record.step,
                ", \"loss\": ",
                number(record.loss),
                ", \"bits_per_byte\": ",
                number(record.bits_per_byte()),
                ", \"perplexity\": ",
                number(record.perplexity()),
                ", \"time\": ",
                number(record.time),
                '}');
}

}  // namespace brigade::metrics
