// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/timeline_chart.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "parallel/base/text.h"
#include "trainer/report/axis.h"
#include "trainer/report/markup.h"

namespace brigade::report {
namespace {

constexpr double kLaneHeight = 30;
constexpr double kBarHeight = 22;
constexpr size_t kMostTips = 160;
constexpr double kTipPixels = 4;

bool valid(const Span& span) {
  return std::isfinite(span.begin) && std::isfinite(span.end) && span.end > span.begin;
}

/// Short stretches that touch each other, until they are long enough to be seen.
class Merged {
 public:
  bool empty() const { return by_category_.empty(); }
  double length() const { return end_ - begin_; }
  double end() const { return end_; }

  void add(const Span& span) {
    begin_ = empty() ? span.begin : begin_;
    end_ = span.end;
    by_category_[span.category] += span.end - span.begin;
  }

  Span take() {
    const auto most = std::max_element(by_category_.begin(),
                                       by_category_.end(),
                                       [](auto a, auto b) { return a.second < b.second; });
    const Span span = {most->first, begin_, end_, ""};
    by_category_.clear();
    return span;
  }

 private:
  std::map<size_t, double> by_category_;
  double begin_ = 0;
  double end_ = 0;
};

void append(std::vector<Span>& spans, const Span& span) {
  Span* last = spans.empty() ? nullptr : &spans.back();
  if (last != nullptr && last->tip.empty() && span.tip.empty() && last->category == span.category &&
      last->end == span.begin) {
    last->end = span.end;
  } else {
    spans.push_back(span);
  }
}

std::vector<Lane> thinned_lanes(const TimelineChart& chart, double least, size_t most_spans) {
  std::vector<Lane> lanes;
  size_t count = 0;
  for (const Lane& lane : chart.lanes) {
    lanes.push_back({lane.name, thinned(lane.spans, least)});
    count += lanes.back().spans.size();
  }
  return count <= most_spans || least == 0 ? lanes : thinned_lanes(chart, least * 2, most_spans);
}

/// Few and long stretches are boxes of their own with tips; the others of a category one path.
void draw_lane(
    Svg& svg, const Lane& lane, const Frame& frame, const Axis& axis, double top, size_t& tips) {
  std::map<size_t, std::string> paths;
  for (const Span& span : lane.spans) {
    const double left = axis.position(span.begin, frame.left, frame.right);
    const double right = axis.position(span.end, frame.left, frame.right);
    if (!span.tip.empty() && right - left >= kTipPixels && tips > 0) {
      --tips;
      svg.box(
          {left, top}, {right - left, kBarHeight}, concat("c", span.category, " span"), span.tip);
    } else {
      paths[span.category] += concat('M',
                                     pair({left, top}),
                                     'H',
                                     coordinate(right),
                                     'v',
                                     coordinate(kBarHeight),
                                     'H',
                                     coordinate(left),
                                     'z');
    }
  }
  for (const auto& [category, path] : paths) {
    svg.path(path, concat("c", category));
  }
}

}  // namespace

std::vector<Span> thinned(std::vector<Span> spans, double least) {
  std::erase_if(spans, [](const Span& span) { return !valid(span); });
  std::vector<Span> out;
  Merged merged;
  for (const Span& span : spans) {
    const bool apart = !merged.empty() && span.begin > merged.end() + least;
    const bool own = span.end - span.begin >= least;
    if (!merged.empty() && (apart || own || merged.length() >= least)) {
      append(out, merged.take());
    }
    if (own) {
      append(out, span);
    } else {
      merged.add(span);
    }
  }
  if (!merged.empty()) {
    append(out, merged.take());
  }
  return out;
}

std::string draw(const TimelineChart& chart, double width, size_t most_spans) {
  double end = 0;
  double names = 0;
  for (const Lane& lane : chart.lanes) {
    names = std::max(names, text_width(lane.name, kFontPx));
    for (const Span& span : lane.spans) {
      end = valid(span) ? std::max(end, span.end) : end;
    }
  }
  if (end <= 0) {
    return "";
  }
  const double height = kLaneHeight * static_cast<double>(chart.lanes.size()) + 52;
  const Frame frame = {names + 12, width - 22, 2, height - 46};
  Axis axis = nice_axis(Scale::kLinear, 0, end, width > 600 ? 11 : 6);
  // A step ends where it ends, not at a round number.
  axis.high = end;
  std::erase_if(axis.ticks, [end](double tick) { return tick > end; });
  Svg svg({width, height}, chart.title, chart.description);
  draw_x_axis(svg, frame, axis, chart.x_label);
  double top = frame.top + 2;
  size_t tips = kMostTips;
  for (const Lane& lane : thinned_lanes(chart, end / (frame.right - frame.left), most_spans)) {
    svg.label({frame.left - 10, top + 15}, lane.name, Anchor::kEnd, "strong");
    draw_lane(svg, lane, frame, axis, top, tips);
    top += kLaneHeight;
  }
  return svg.text();
}

}  // namespace brigade::report
