// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/study_view.h"

#include <algorithm>
#include <cmath>

#include "parallel/base/text.h"
#include "trainer/report/markup.h"

namespace brigade::report {

using scaling::Estimate;
using scaling::Point;
using scaling::PointResult;
using scaling::Results;
using scaling::Series;

namespace {

Estimate scaled(const Estimate& estimate, double factor) {
  return {estimate.value * factor,
          {estimate.interval.low * factor, estimate.interval.high * factor}};
}

/// 0 where it is not known.
Estimate work_rate(const Results& results, size_t point) {
  const PointResult& result = results.points[point];
  if (results.scaling != scaling::Scaling::kMemoryConstrained) {
    return result.tokens_per_s;
  }
  if (!result.mfu || !(result.tokens_per_s.value > 0)) {
    return {};
  }
  const double arithmetic = *result.mfu * static_cast<double>(result.point.ranks);
  return scaled(result.tokens_per_s, arithmetic / result.tokens_per_s.value);
}

/// A name that does not say whose program it is says so.
std::string with_peer(const std::string& name, const std::string& peer) {
  const bool said = peer.empty() || name.find(peer) != std::string::npos;
  return said ? name : concat(name, " (", peer, ')');
}

}  // namespace

std::string series_name(const Point& point) {
  return with_peer(point.series, point.peer);
}

std::string series_name(const Results& results, const Series& series) {
  // The first point may be a member of other series, too; the last one is of this alone.
  return series.points.empty()
             ? series.name
             : with_peer(series.name, results.points[series.points.back()].point.peer);
}

std::string ranks_text(const Point& point) {
  return concat(point.ranks, point.oversubscribed ? " †" : "");
}

std::string point_name(const Point& point) {
  return concat(
      series_name(point), ", ", counted(point.ranks, "rank"), point.oversubscribed ? " †" : "");
}

std::string point_place(size_t point, std::string_view below) {
  return concat("points/", point, '/', below);
}

void add_estimate(std::vector<Cell>& row,
                  const Estimate& estimate,
                  const std::string& from,
                  double unit,
                  int decimals) {
  const auto add = [&](double value, std::string_view key) {
    row.push_back(number_cell(
        value, fixed(value / unit, decimals), from.empty() ? "" : concat(from, '/', key)));
  };
  add(estimate.value, "value");
  add(estimate.interval.low, "low");
  add(estimate.interval.high, "high");
}

std::optional<std::pair<double, double>> interval_of(const Estimate& estimate, double unit) {
  const auto [low, high] = estimate.interval;
  if (!(low <= estimate.value && estimate.value <= high) || (low == 0 && high == 0)) {
    return std::nullopt;
  }
  return std::pair(low / unit, high / unit);
}

std::optional<Estimate> speed_up(const Results& results, const Series& series, size_t point) {
  const Estimate base = series.points.empty() ? Estimate{} : work_rate(results, series.points[0]);
  const Estimate here = work_rate(results, point);
  if (!(base.value > 0) || !(here.value > 0)) {
    return std::nullopt;
  }
  return scaled(here, 1 / base.value);
}

std::optional<Estimate> efficiency(const Results& results, const Series& series, size_t point) {
  std::optional<Estimate> gain = speed_up(results, series, point);
  if (gain) {
    const double ratio = static_cast<double>(results.points[point].point.ranks) /
                         static_cast<double>(results.points[series.points[0]].point.ranks);
    gain = scaled(*gain, 1 / ratio);
  }
  return gain;
}

Scale rank_scale(const Results& results) {
  int64_t least = 0;
  int64_t most = 0;
  for (const Series& series : results.series) {
    for (const size_t index : series.points) {
      const int64_t ranks = results.points[index].point.ranks;
      least = least == 0 ? ranks : std::min(least, ranks);
      most = std::max(most, ranks);
    }
  }
  return most > 4 * least ? Scale::kLog2 : Scale::kLinear;
}

bool any_oversubscribed(const Results& results) {
  return std::any_of(results.points.begin(), results.points.end(), [](const PointResult& result) {
    return result.point.oversubscribed;
  });
}

std::string with_footnote(const Results& results, std::string note) {
  if (any_oversubscribed(results)) {
    note += concat(note.empty() ? "" : " ",
                   "† oversubscribed: ranks × threads is more than the ",
                   counted(results.provenance.cores, "core"),
                   '.');
  }
  return note;
}

std::vector<LegendEntry> series_legend(const Results& results, size_t first, size_t last) {
  std::vector<LegendEntry> entries;
  for (size_t i = first; i < last; ++i) {
    entries.push_back({LegendKey::kLine, i, series_name(results, results.series[i])});
  }
  if (any_oversubscribed(results)) {
    entries.push_back({LegendKey::kHollow, 0, "oversubscribed †"});
  }
  return entries;
}

LinePoint line_point(const Point& point, double y, std::string value_text) {
  LinePoint at;
  at.x = static_cast<double>(point.ranks);
  at.y = y;
  at.hollow = point.oversubscribed;
  at.tip = concat(point_name(point), ": ", value_text);
  return at;
}

}  // namespace brigade::report
