// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/sample.h"

#include <cmath>
#include <map>
#include <numeric>

#include "parallel/base/text.h"

namespace brigade::scaling {
namespace {

Result<void> check(const Sample& sample) {
  if (sample.ranks < 1) {
    return fail(ErrorCode::kData,
                concat("a number of ranks must be at least 1; found ", sample.ranks));
  }
  if (sample.ms.empty()) {
    return fail(
        ErrorCode::kData,
        concat("each size needs a step time; found none of ", counted(sample.ranks, "rank")));
  }
  for (const double ms : sample.ms) {
    if (!(ms > 0.0 && std::isfinite(ms))) {
      return fail(ErrorCode::kData,
                  concat("a step time must be a positive number of milliseconds; found, of ",
                         counted(sample.ranks, "rank"),
                         ", ",
                         ms));
    }
  }
  return {};
}

}  // namespace

Result<std::vector<Size>> sizes_of(const std::vector<Sample>& samples) {
  std::map<int64_t, std::vector<double>> logs;
  for (const Sample& sample : samples) {
    if (const auto valid = check(sample); !valid) {
      return fail(valid.error());
    }
    for (const double ms : sample.ms) {
      logs[sample.ranks].push_back(std::log(ms));
    }
  }
  std::vector<Size> sizes;
  for (auto& [ranks, of_ranks] : logs) {
    const double sum = std::accumulate(of_ranks.begin(), of_ranks.end(), 0.0);
    sizes.push_back({.ranks = static_cast<double>(ranks),
                     .logs = of_ranks,
                     .mean = sum / static_cast<double>(of_ranks.size())});
  }
  return sizes;
}

}  // namespace brigade::scaling
