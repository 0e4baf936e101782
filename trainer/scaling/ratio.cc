// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/ratio.h"

#include <array>
#include <cmath>
#include <string_view>

#include "trainer/scaling/fit.h"

namespace brigade::scaling {
namespace {

struct Axis {
  std::string_view name;
  Part part;
};

constexpr std::array<Axis, 4> kAxes = {{{"tensor", Part::kTensor},
                                        {"data", Part::kData},
                                        {"zero", Part::kZero},
                                        {"pipeline", Part::kPipeline}}};

double of(const Breakdown& breakdown, Part part) {
  return breakdown[static_cast<size_t>(part)];
}

struct LogPoint {
  double ranks = 0;
  double ratio = 0;
};

double least_squares_slope(const std::vector<LogPoint>& points) {
  const auto count = static_cast<double>(points.size());
  LogPoint mean;
  for (const LogPoint& point : points) {
    mean.ranks += point.ranks / count;
    mean.ratio += point.ratio / count;
  }
  double covariance = 0.0;
  double variance = 0.0;
  for (const LogPoint& point : points) {
    covariance += (point.ranks - mean.ranks) * (point.ratio - mean.ratio);
    variance += (point.ranks - mean.ranks) * (point.ranks - mean.ranks);
  }
  return covariance / variance;
}

}  // namespace

std::optional<double> equal_at(const std::vector<std::pair<int64_t, double>>& by_ranks,
                               int64_t largest) {
  std::vector<LogPoint> points;
  points.reserve(by_ranks.size());
  for (const auto& [ranks, ratio] : by_ranks) {
    points.push_back({.ranks = std::log(static_cast<double>(ranks)), .ratio = std::log(ratio)});
  }
  if (points.size() < 2) {
    return std::nullopt;
  }
  for (size_t next = 1; next < points.size(); ++next) {
    const LogPoint& from = points[next - 1];
    const LogPoint& to = points[next];
    if (from.ratio * to.ratio <= 0.0 && from.ratio != to.ratio) {
      const double share = from.ratio / (from.ratio - to.ratio);
      return std::exp(from.ranks + share * (to.ranks - from.ranks));
    }
  }
  const LogPoint& last = points.back();
  const double slope = least_squares_slope(points);
  const double found = std::exp(last.ranks - last.ratio / slope);
  const bool ahead = last.ratio * slope < 0.0;
  if (ahead && found <= kFarthest * static_cast<double>(largest)) {
    return found;
  }
  return std::nullopt;
}

std::vector<Ratio> ratios_of(const std::vector<SizedBreakdown>& sizes) {
  std::vector<Ratio> ratios;
  for (const Axis& axis : kAxes) {
    Ratio ratio = {.axis = std::string(axis.name), .by_ranks = {}, .equal_at = {}};
    for (const SizedBreakdown& size : sizes) {
      const double compute = of(size.breakdown, Part::kCompute);
      const double exposed = of(size.breakdown, axis.part);
      if (compute > 0.0 && exposed > 0.0) {
        ratio.by_ranks.emplace_back(size.ranks, compute / exposed);
      }
    }
    if (!ratio.by_ranks.empty()) {
      ratio.equal_at = equal_at(ratio.by_ranks, sizes.back().ranks);
      ratios.push_back(std::move(ratio));
    }
  }
  return ratios;
}

}  // namespace brigade::scaling
