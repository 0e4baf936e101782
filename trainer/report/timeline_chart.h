// SPDX-License-Identifier: Apache-2.0
/// Lanes of coloured stretches over one axis of time.
///
///   TimelineChart chart{"Step", "...", "ms", {"compute", "idle"}, {{"rank 0", {{0, 0, 9.5}}}}};
///   std::string svg = draw(chart, 1072, 4000);
///
/// Category i has area colour i of the palette. What is shorter than a pixel is merged with its
/// neighbours into the category that holds most of that pixel, and pixels grow until at most
/// `most_spans` remain: a drawing's size has a bound, whatever the recording's. Stretches that are
/// not finite, or end before they begin, are left out. Thread safety: pure.
#pragma once

#include <string>
#include <vector>

#include "trainer/report/svg.h"

namespace brigade::report {

struct Span {
  size_t category = 0;
  double begin = 0;
  double end = 0;
  std::string tip = "";
};

struct Lane {
  std::string name = "";
  std::vector<Span> spans = {};  ///< of one lane, do not overlap
};

struct TimelineChart {
  std::string title = "";
  std::string description = "";
  std::string x_label = "";
  std::vector<std::string> categories = {};
  std::vector<Lane> lanes = {};
};

/// The height follows from the lanes. No stretches: an empty text.
std::string draw(const TimelineChart& chart, double width, size_t most_spans);

/// Stretches in their order; those shorter than `least` are merged, see above. What was merged has
/// no tip.
std::vector<Span> thinned(std::vector<Span> spans, double least);

}  // namespace brigade::report
