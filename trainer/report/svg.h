// SPDX-License-Identifier: Apache-2.0
/// One drawing as SVG text, with a title and a description for those who cannot see it.
///
///   Svg svg({504, 300}, "Speed-up", "Six lines from 1 to 2 ranks.");
///   svg.line({0, 0}, {10, 10}, "grid");
///   std::string text = svg.text();
///
/// Colours and fonts are those of CSS classes (style_sheet.h). Coordinates are pixels; all of them
/// must be finite. Texts are escaped here. Thread safety: that of any value.
#pragma once

#include <string>
#include <string_view>

namespace brigade::report {

struct Size {
  double width = 0;
  double height = 0;
};

struct Place {
  double x = 0;
  double y = 0;
};

/// Which point of a text lies at its place.
enum class Anchor { kStart, kMiddle, kEnd };

inline constexpr double kFontPx = 12;

class Svg {
 public:
  Svg(Size size, std::string_view title, std::string_view description);

  void line(Place from, Place to, std::string_view css_class);
  /// With `tip`, a text that browsers show on hovering.
  void box(Place corner, Size size, std::string_view css_class, std::string_view tip = "");
  void path(std::string_view data, std::string_view css_class, std::string_view tip = "");
  void label(Place place, std::string_view text, Anchor anchor, std::string_view css_class = "");

  std::string text() const;

 private:
  void element(std::string_view start, std::string_view css_class, std::string_view tip);

  std::string out_;
};

/// "x,y" for the data of a path.
std::string pair(Place place);

}  // namespace brigade::report
