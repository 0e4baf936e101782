// SPDX-License-Identifier: Apache-2.0
/// What a benchmark of steps saw, and its JSON line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace brigade::bench {

inline constexpr size_t kWarmupSteps = 2;

struct StepTimes {
  std::string description;
  int64_t ranks = 1;
  int64_t threads_per_rank = 1;
  int64_t global_batch = 1;
  int64_t microbatch = 1;
  int64_t tokens_per_step = 1;
  int64_t parameters = 0;
  double flops_per_token = 0.0;
  std::string mesh;
  std::string optimizer;
  std::string matmul;
  std::string libtorch;
  double startup_s = 0.0;  ///< from the start of rank 0's process to the end of its first step
  int64_t loopback_bytes =
      0;  ///< sent over the loopback device per timed step, by all ranks and whoever else uses it
  std::vector<double> step_ms;  ///< every step, also those that warm up
  std::vector<double> losses;
  std::vector<double> grad_norms;   ///< before clipping
  std::vector<double> peak_rss_mb;  ///< by rank
};

/// To `digits` decimals, so that the shortest text that reads back is as short.
double rounded(double value, int digits);

/// One object in one line.
std::string to_json(const StepTimes& times);

}  // namespace brigade::bench
