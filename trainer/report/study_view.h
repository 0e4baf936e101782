// SPDX-License-Identifier: Apache-2.0
/// How a study's values are named and compared on its page. Internal to this module.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trainer/report/legend.h"
#include "trainer/report/line_chart.h"
#include "trainer/report/table.h"
#include "trainer/scaling/results.h"

namespace brigade::report {

/// "tiny dp, 2 ranks", with a dagger when ranks share cores.
std::string point_name(const scaling::Point& point);
/// "tiny dp"; of a peer also who it is.
std::string series_name(const scaling::Point& point);
std::string series_name(const scaling::Results& results, const scaling::Series& series);
/// "2", "8 †".
std::string ranks_text(const scaling::Point& point);

/// "points/3/median_step_ms/value".
std::string point_place(size_t point, std::string_view below);

/// Value and ends of the interval, each a cell; `value / unit` is shown with `decimals`.
void add_estimate(std::vector<Cell>& row,
                  const scaling::Estimate& estimate,
                  const std::string& from,
                  double unit,
                  int decimals);
/// None where both ends are 0 or the value lies outside: it was not estimated.
std::optional<std::pair<double, double>> interval_of(const scaling::Estimate& estimate,
                                                     double unit = 1);

/// Work per time over that of the series' first point: tokens per second, and arithmetic per second
/// (MFU times ranks) where the model grows with the ranks. The base counts as exact.
std::optional<scaling::Estimate> speed_up(const scaling::Results& results,
                                          const scaling::Series& series,
                                          size_t point);
/// speed_up over the ratio of ranks.
std::optional<scaling::Estimate> efficiency(const scaling::Results& results,
                                            const scaling::Series& series,
                                            size_t point);

/// Of axes of ranks: logarithmic when a linear one would press small numbers of ranks together.
Scale rank_scale(const scaling::Results& results);

bool any_oversubscribed(const scaling::Results& results);
/// `note`, and what the dagger means if any point has one.
std::string with_footnote(const scaling::Results& results, std::string note);

/// Series `first` to `last` - 1, then what a hollow marker is, if there is one.
std::vector<LegendEntry> series_legend(const scaling::Results& results, size_t first, size_t last);

/// Point of a line: hollow when oversubscribed, with a tip.
LinePoint line_point(const scaling::Point& point, double y, std::string value_text);

}  // namespace brigade::report
