// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/line_chart.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "parallel/base/text.h"
#include "trainer/report/marker.h"
#include "trainer/report/palette.h"

namespace brigade::report {
namespace {

constexpr int kMostTicks = 7;

bool shown(double value, Scale scale) {
  return std::isfinite(value) && (scale == Scale::kLinear || value > 0);
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void take(double value, Scale scale) {
    if (shown(value, scale)) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  bool empty() const { return low > high; }
};

struct Plot {
  Svg svg;
  Frame frame;
  Axis x;
  Axis y;

  Place at(double px, double py) const {
    return {x.position(px, frame.first(), frame.last()), y.position(py, frame.bottom, frame.top)};
  }
  bool holds(const LinePoint& point) const {
    return shown(point.x, x.scale) && shown(point.y, y.scale) && x.holds(point.x) &&
           y.holds(point.y);
  }
};

void draw_curve(Plot& plot, const Line& line, double shift, std::string_view css_class) {
  std::string path;
  bool pen_down = false;
  for (const LinePoint& point : line.points) {
    if (plot.holds(point)) {
      path += pen_down ? 'L' : 'M';
      const Place place = plot.at(point.x, point.y);
      path += pair({place.x + shift, place.y});
    }
    pen_down = plot.holds(point);
  }
  if (!path.empty()) {
    plot.svg.path(path, css_class);
  }
}

void draw_interval(Plot& plot, const LinePoint& point, double shift, std::string_view css_class) {
  const auto [low, high] = *point.interval;
  if (!shown(low, plot.y.scale) || !shown(high, plot.y.scale)) {
    return;
  }
  Place from = plot.at(point.x, std::clamp(low, plot.y.low, plot.y.high));
  Place to = plot.at(point.x, std::clamp(high, plot.y.low, plot.y.high));
  from.x += shift;
  to.x += shift;
  plot.svg.path(concat('M',
                       pair(from),
                       'L',
                       pair(to),
                       'M',
                       pair({from.x - 3, from.y}),
                       "h6M",
                       pair({to.x - 3, to.y}),
                       "h6"),
                css_class);
}

void draw_points(Plot& plot, const Line& line, double shift) {
  for (const LinePoint& point : line.points) {
    if (!plot.holds(point)) {
      continue;
    }
    Place place = plot.at(point.x, point.y);
    place.x += shift;
    if (point.interval) {
      draw_interval(plot, point, shift, concat("s", line.style % kLineShades.size(), " bar"));
    }
    plot.svg.path(
        marker_path(line.style, place), marker_class(line.style, point.hollow), point.tip);
  }
}

/// Beside each other by three pixels, so that lines that share points do not hide each other.
void draw_measured(Plot& plot, const std::vector<Line>& lines) {
  const auto measured = std::count_if(lines.begin(), lines.end(), [](const Line& line) {
    return line.kind == LineKind::kMeasured;
  });
  double shift = -1.5 * static_cast<double>(measured - 1);
  for (const Line& line : lines) {
    if (line.kind == LineKind::kMeasured) {
      draw_curve(plot, line, shift, concat("s", line.style % kLineShades.size(), " line"));
      draw_points(plot, line, shift);
      shift += 3;
    }
  }
}

Range x_range(const LineChart& chart) {
  Range range;
  for (const Line& line : chart.lines) {
    for (const LinePoint& point : line.points) {
      if (shown(point.y, chart.y_scale)) {
        range.take(point.x, chart.x_scale);
      }
    }
  }
  return range;
}

Range y_range(const LineChart& chart) {
  Range range;
  for (const Line& line : chart.lines) {
    for (const LinePoint& point : line.points) {
      range.take(point.y, chart.y_scale);
      if (point.interval) {
        range.take(point.interval->second, chart.y_scale);
      }
    }
  }
  if (chart.y_from_zero && chart.y_scale == Scale::kLinear) {
    range.take(0, Scale::kLinear);
  }
  return range;
}

int most_x_ticks(const LineChart& chart, const Range& range) {
  const bool few =
      chart.x_scale == Scale::kLinear && chart.x_whole && range.high - range.low < kMostTicks;
  if (!few) {
    return kMostTicks;
  }
  // A single number stands in the middle, with a whole one on each side.
  return range.low == range.high ? 3 : std::max(2, static_cast<int>(range.high - range.low) + 1);
}

}  // namespace

std::string draw(const LineChart& chart, Size size) {
  const Range xs = x_range(chart);
  const Range ys = y_range(chart);
  if (xs.empty() || ys.empty()) {
    return "";
  }
  const Axis x = nice_axis(chart.x_scale, xs.low, xs.high, most_x_ticks(chart, xs));
  const Axis y = nice_axis(chart.y_scale, ys.low, ys.high, kMostTicks);
  const Frame frame = {tick_width(y) + 12, size.width - 10, 30, size.height - 46, 14};
  Plot plot = {Svg(size, chart.title, chart.description), frame, x, y};
  draw_axes(plot.svg, frame, x, chart.x_label, y, chart.y_label);
  for (const Line& line : chart.lines) {
    if (line.kind != LineKind::kMeasured) {
      const std::string model = concat("s", line.style % kLineShades.size(), " model");
      draw_curve(plot, line, 0, line.kind == LineKind::kModel ? model : "reference");
    }
  }
  draw_measured(plot, chart.lines);
  return plot.svg.text();
}

}  // namespace brigade::report
