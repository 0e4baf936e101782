// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/marker.h"

#include <set>

#include <gtest/gtest.h>

#include "trainer/report/palette.h"

namespace brigade::report {
namespace {

TEST(Marker, EachColourHasAShapeOfItsOwn) {
  std::set<std::string> shapes;
  for (size_t i = 0; i < kLineShades.size(); ++i) {
    shapes.insert(marker_path(i, {10, 10}));
  }
  EXPECT_EQ(shapes.size(), kLineShades.size());
  EXPECT_EQ(marker_path(kLineShades.size(), {1, 2}), marker_path(0, {1, 2}));
}

TEST(Marker, PointsUpOrDownAroundItsCentre) {
  EXPECT_EQ(marker_path(0, {10, 10}, 4), "M6,10a4,4 0 1 0 8,0a4,4 0 1 0 -8,0z");
  EXPECT_EQ(marker_path(3, {10, 10}, 10), "M10,-3L23,10L10,23L-3,10z");
}

TEST(Marker, HollowOnesKeepTheirColour) {
  EXPECT_EQ(marker_class(1, false), "s1 dot");
  EXPECT_EQ(marker_class(9, true), "s1 dot hollow");
}

}  // namespace
}  // namespace brigade::report
