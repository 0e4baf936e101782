// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/record.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "trainer/scaling/statistics.h"

namespace brigade::bench {
namespace {

constexpr size_t kShownSteps = 5;

std::vector<double> first_steps(const std::vector<double>& values) {
  std::vector<double> shown;
  for (size_t i = 0; i < std::min(values.size(), kShownSteps); ++i) {
    shown.push_back(rounded(values[i], 6));
  }
  return shown;
}

std::vector<double> all_rounded(std::vector<double> values, int digits) {
  for (double& value : values) {
    value = rounded(value, digits);
  }
  return values;
}

}  // namespace

double rounded(double value, int digits) {
  const double scale = std::pow(10.0, digits);
  return std::round(value * scale) / scale;
}

std::string to_json(const StepTimes& times) {
  const auto begin = times.step_ms.begin() +
                     static_cast<std::ptrdiff_t>(std::min(kWarmupSteps, times.step_ms.size() - 1));
  const std::vector<double> timed(begin, times.step_ms.end());
  const double middle = scaling::median(timed);
  const double tokens_per_s = static_cast<double>(times.tokens_per_step) / (middle / 1e3);
  const nlohmann::ordered_json line = {
      {"peer", "brigade"},
      {"size", times.description},
      {"ranks", times.ranks},
      {"threads_per_rank", times.threads_per_rank},
      {"global_batch", times.global_batch},
      {"microbatch", times.microbatch},
      {"step_ms_median", rounded(middle, 2)},
      {"step_ms_min", rounded(*std::min_element(timed.begin(), timed.end()), 2)},
      {"step_ms_max", rounded(*std::max_element(timed.begin(), timed.end()), 2)},
      {"tokens_per_s", rounded(tokens_per_s, 1)},
      {"gflops", rounded(tokens_per_s * times.flops_per_token / 1e9, 1)},
      {"losses", first_steps(times.losses)},
      {"grad_norms", first_steps(times.grad_norms)},
      {"startup_s", rounded(times.startup_s, 2)},
      {"comm_bytes_per_step_all_ranks", times.loopback_bytes},
      {"params", times.parameters},
      {"adam", times.optimizer},
      {"torch", times.libtorch},
      {"matmul", times.matmul},
      {"mesh", times.mesh},
      {"peak_rss_mb_per_rank", all_rounded(times.peak_rss_mb, 1)}};
  return line.dump();
}

}  // namespace brigade::bench
