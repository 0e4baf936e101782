// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/palette.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace brigade::report {
namespace {

using Numbers = std::array<double, 3>;

constexpr std::array kThemes = {&Shade::light, &Shade::dark};

double linear(uint8_t channel) {
  const double value = channel / 255.0;
  return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

/// How one who has normal colour vision, no red cones or no green cones sees linear RGB
/// (Viénot, Brettel, Mollon 1999).
using Eye = std::array<Numbers, 3>;
constexpr std::array<Eye, 3> kEyes = {{
    {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
    {{{0.11238, 0.88762, 0}, {0.11238, 0.88762, 0}, {0.00401, -0.00401, 1}}},
    {{{0.29275, 0.70725, 0}, {0.29275, 0.70725, 0}, {-0.02234, 0.02234, 1}}},
}};

Numbers times(const Eye& matrix, const Numbers& vector) {
  Numbers product = {};
  for (size_t row = 0; row < 3; ++row) {
    for (size_t column = 0; column < 3; ++column) {
      product[row] += matrix[row][column] * vector[column];
    }
  }
  return product;
}

/// CIE L*a*b* as the eye has it.
Numbers lab(Colour colour, const Eye& eye) {
  constexpr Eye kXyz = {
      {{0.4124, 0.3576, 0.1805}, {0.2126, 0.7152, 0.0722}, {0.0193, 0.1192, 0.9505}}};
  const Numbers xyz =
      times(kXyz, times(eye, {linear(colour.red), linear(colour.green), linear(colour.blue)}));
  const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
  const double x = f(xyz[0] / 0.95047);
  const double y = f(xyz[1]);
  const double z = f(xyz[2] / 1.08883);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

double difference(Colour a, Colour b, const Eye& eye) {
  const Numbers first = lab(a, eye);
  const Numbers second = lab(b, eye);
  return std::hypot(first[0] - second[0], first[1] - second[1], first[2] - second[2]);
}

/// The solid areas and the lines, each a list of what must be told apart.
std::vector<std::vector<Shade>> families() {
  std::vector<Shade> areas;
  for (size_t i = 0; i < kAreaShades.size(); ++i) {
    if (!is_hatched(i)) {
      areas.push_back(kAreaShades[i]);
    }
  }
  return {areas, {kLineShades.begin(), kLineShades.end()}};
}

TEST(Palette, ContrastIsThatOfTheStandard) {
  EXPECT_NEAR(contrast({0, 0, 0}, {255, 255, 255}), 21, 1e-9);
  EXPECT_NEAR(contrast({0x77, 0x77, 0x77}, {255, 255, 255}), 4.48, 0.005);
  EXPECT_EQ(hex({0, 0x72, 0xB2}), "#0072b2");
  EXPECT_EQ(hex(mix({0, 0, 0}, {200, 100, 50}, 0.5)), "#643219");
}

TEST(Palette, TextIsReadableInBothThemes) {
  for (const auto theme : kThemes) {
    for (const Shade& ground : {kPaper, kSurface}) {
      for (const Shade& text : {kInk, kMuted, kAccent, kAlarm}) {
        EXPECT_GE(contrast(text.*theme, ground.*theme), 4.5) << hex(text.*theme);
      }
    }
  }
}

TEST(Palette, LinesAndAreasStandOutInBothThemes) {
  for (const auto theme : kThemes) {
    for (const Shade& ground : {kPaper, kSurface}) {
      for (const Shade& shade : kLineShades) {
        EXPECT_GE(contrast(shade.*theme, ground.*theme), 3) << hex(shade.*theme);
      }
      for (const Shade& shade : kAreaShades) {
        EXPECT_GE(contrast(shade.*theme, ground.*theme), 3) << hex(shade.*theme);
      }
    }
  }
}

TEST(Palette, NumbersInTheDarkestCellOfAHeatMapAreReadable) {
  for (const auto theme : kThemes) {
    const Colour cell = mix(kSurface.*theme, kAccent.*theme, kHeatOpacity);
    EXPECT_GE(contrast(kInk.*theme, cell), 4.5);
  }
}

TEST(Palette, ColoursDifferAlsoWithoutRedOrGreenCones) {
  for (const auto theme : kThemes) {
    for (const Eye& eye : kEyes) {
      for (const std::vector<Shade>& family : families()) {
        for (size_t i = 0; i < family.size(); ++i) {
          for (size_t j = i + 1; j < family.size(); ++j) {
            const Colour a = family[i].*theme;
            const Colour b = family[j].*theme;
            EXPECT_GE(difference(a, b, eye), 11) << hex(a) << ' ' << hex(b);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace brigade::report
