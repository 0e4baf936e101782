// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/marker.h"

#include <array>
#include <cmath>
#include <numbers>

#include "parallel/base/text.h"
#include "trainer/report/markup.h"
#include "trainer/report/palette.h"

namespace brigade::report {
namespace {

/// A regular polygon, or a star with every other corner pulled in.
struct Shape {
  int corners = 0;     ///< 0: a circle
  double turn = 0;     ///< of the first corner, in quarters of a circle from the top
  double stretch = 1;  ///< of the radius, so that all shapes look equally large
  double inner = 1;
};

constexpr std::array<Shape, 8> kShapes = {{{0, 0, 1, 1},
                                           {4, 0.5, 1.25, 1},
                                           {3, 0, 1.3, 1},
                                           {4, 0, 1.3, 1},
                                           {3, 2, 1.3, 1},
                                           {10, 0, 1.5, 0.45},
                                           {5, 0, 1.15, 1},
                                           {8, 0, 1.5, 0.4}}};

}  // namespace

std::string marker_path(size_t shape, Place centre, double radius) {
  const Shape& form = kShapes[shape % kShapes.size()];
  if (form.corners == 0) {
    const std::string r = coordinate(radius);
    const std::string across = coordinate(2 * radius);
    return concat('M',
                  pair({centre.x - radius, centre.y}),
                  'a',
                  r,
                  ',',
                  r,
                  " 0 1 0 ",
                  across,
                  ",0a",
                  r,
                  ',',
                  r,
                  " 0 1 0 -",
                  across,
                  ",0z");
  }
  std::string path;
  for (int corner = 0; corner < form.corners; ++corner) {
    const double angle = std::numbers::pi * (form.turn / 2 + 2.0 * corner / form.corners);
    const double reach = radius * form.stretch * (corner % 2 == 0 ? 1 : form.inner);
    path += corner == 0 ? 'M' : 'L';
    path += pair({centre.x + reach * std::sin(angle), centre.y - reach * std::cos(angle)});
  }
  return path + 'z';
}

std::string marker_class(size_t index, bool hollow) {
  return concat("s", index % kLineShades.size(), hollow ? " dot hollow" : " dot");
}

}  // namespace brigade::report
