// SPDX-License-Identifier: Apache-2.0
/// Lines over an axis of numbers: measured points with interval bars, models, references.
///
///   LineChart chart{"Speed-up", "...", "ranks", Scale::kLog2, "speed-up (×)", Scale::kLog2};
///   chart.lines.push_back({"dp", LineKind::kMeasured, 0, {{1, 1}, {2, 1.8, {{1.7, 1.9}}}}});
///   std::string svg = draw(chart, {504, 320});
///
/// Numbers that are not finite are left out (on a logarithmic axis: not above 0). A chart without
/// any point is an empty text. Thread safety: pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trainer/report/axis.h"
#include "trainer/report/svg.h"

namespace brigade::report {

struct LinePoint {
  double x = 0;
  double y = 0;
  std::optional<std::pair<double, double>> interval = {};
  bool hollow = false;  ///< to be taken with care
  std::string tip = "";
};

enum class LineKind {
  kMeasured,  ///< markers on a thin line
  kModel,     ///< dashed, without markers
  kReference  ///< dotted, in grey
};

struct Line {
  std::string name = "";
  LineKind kind = LineKind::kMeasured;
  size_t style = 0;  ///< colour and marker
  std::vector<LinePoint> points = {};
};

struct LineChart {
  std::string title = "";
  std::string description = "";
  std::string x_label = "";
  Scale x_scale = Scale::kLinear;
  bool x_whole = true;  ///< ticks of a linear x axis are whole numbers
  std::string y_label = "";
  Scale y_scale = Scale::kLinear;
  bool y_from_zero = true;  ///< on a linear axis
  std::vector<Line> lines = {};
};

std::string draw(const LineChart& chart, Size size);

}  // namespace brigade::report
