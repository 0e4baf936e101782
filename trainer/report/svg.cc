// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/svg.h"

#include "parallel/base/text.h"
#include "trainer/report/markup.h"

namespace brigade::report {
namespace {

std::string_view anchor_text(Anchor anchor) {
  switch (anchor) {
    case Anchor::kStart: return "";
    case Anchor::kMiddle: return " text-anchor=\"middle\"";
    case Anchor::kEnd: return " text-anchor=\"end\"";
  }
  return "";
}

}  // namespace

std::string pair(Place place) {
  return concat(coordinate(place.x), ',', coordinate(place.y));
}

Svg::Svg(Size size, std::string_view title, std::string_view description) {
  const std::string width = coordinate(size.width);
  const std::string height = coordinate(size.height);
  // aria-label instead of aria-labelledby: ids would have to be unique in a page of many drawings.
  out_ = concat("<svg role=\"img\" viewBox=\"0 0 ",
                width,
                ' ',
                height,
                "\" width=\"",
                width,
                "\" height=\"",
                height,
                "\" aria-label=\"",
                escaped(title),
                "\"><title>",
                escaped(title),
                "</title><desc>",
                escaped(description),
                "</desc>\n");
}

void Svg::element(std::string_view start, std::string_view css_class, std::string_view tip) {
  out_ += start;
  if (!css_class.empty()) {
    out_ += concat(" class=\"", css_class, '"');
  }
  out_ += tip.empty() ? "/>\n"
                      : concat("><title>",
                               escaped(tip),
                               "</title></",
                               start.substr(1, start.find(' ') - 1),
                               ">\n");
}

void Svg::line(Place from, Place to, std::string_view css_class) {
  element(concat("<line x1=\"",
                 coordinate(from.x),
                 "\" y1=\"",
                 coordinate(from.y),
                 "\" x2=\"",
                 coordinate(to.x),
                 "\" y2=\"",
                 coordinate(to.y),
                 '"'),
          css_class,
          "");
}

void Svg::box(Place corner, Size size, std::string_view css_class, std::string_view tip) {
  element(concat("<rect x=\"",
                 coordinate(corner.x),
                 "\" y=\"",
                 coordinate(corner.y),
                 "\" width=\"",
                 coordinate(size.width),
                 "\" height=\"",
                 coordinate(size.height),
                 '"'),
          css_class,
          tip);
}

void Svg::path(std::string_view data, std::string_view css_class, std::string_view tip) {
  element(concat("<path d=\"", data, '"'), css_class, tip);
}

void Svg::label(Place place, std::string_view text, Anchor anchor, std::string_view css_class) {
  out_ += concat(
      "<text x=\"", coordinate(place.x), "\" y=\"", coordinate(place.y), '"', anchor_text(anchor));
  if (!css_class.empty()) {
    out_ += concat(" class=\"", css_class, '"');
  }
  out_ += concat('>', escaped(text), "</text>\n");
}

std::string Svg::text() const {
  return out_ + "</svg>";
}

}  // namespace brigade::report
