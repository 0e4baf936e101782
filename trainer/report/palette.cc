// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/palette.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace brigade::report {
namespace {

double linear(uint8_t channel) {
  const double value = channel / 255.0;
  return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

double luminance(Colour colour) {
  return 0.2126 * linear(colour.red) + 0.7152 * linear(colour.green) + 0.0722 * linear(colour.blue);
}

uint8_t blend(uint8_t below, uint8_t above, double opacity) {
  return static_cast<uint8_t>(std::lround(below + (above - below) * opacity));
}

}  // namespace

std::string hex(Colour colour) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "#";
  for (const uint8_t channel : {colour.red, colour.green, colour.blue}) {
    text += kDigits[channel / 16U];
    text += kDigits[channel % 16U];
  }
  return text;
}

double contrast(Colour a, Colour b) {
  const auto [low, high] = std::minmax({luminance(a), luminance(b)});
  return (high + 0.05) / (low + 0.05);
}

Colour mix(Colour below, Colour above, double opacity) {
  return {blend(below.red, above.red, opacity),
          blend(below.green, above.green, opacity),
          blend(below.blue, above.blue, opacity)};
}

}  // namespace brigade::report
