// SPDX-License-Identifier: Apache-2.0
/// The colours of a page, light and dark, and how well they can be seen.
///
///   double ratio = contrast(kInk.light, kSurface.light);   // at least 4.5 for text
///
/// Lines differ in colour and marker, areas in colour and hatching: no meaning hangs on hue alone.
/// The hues stem from Okabe and Ito's, darkened on light paper until they stand out 3 : 1 (WCAG
/// 1.4.11). Thread safety: pure.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace brigade::report {

struct Colour {
  uint8_t red = 0;
  uint8_t green = 0;
  uint8_t blue = 0;
};

struct Shade {
  Colour light;
  Colour dark;
};

inline constexpr Shade kPaper = {{0xF7, 0xF6, 0xF3}, {0x10, 0x12, 0x16}};
inline constexpr Shade kSurface = {{0xFF, 0xFF, 0xFF}, {0x19, 0x1C, 0x22}};
inline constexpr Shade kInk = {{0x1B, 0x1D, 0x22}, {0xEC, 0xED, 0xF0}};
inline constexpr Shade kMuted = {{0x57, 0x5C, 0x67}, {0xA9, 0xAF, 0xBB}};
inline constexpr Shade kRule = {{0xE2, 0xE0, 0xDA}, {0x2E, 0x33, 0x3C}};
inline constexpr Shade kAccent = {{0x00, 0x5F, 0x99}, {0x6B, 0xB8, 0xF0}};
inline constexpr Shade kAlarm = {{0xB0, 0x35, 0x0B}, {0xFF, 0x9B, 0x6B}};

/// Of lines, in the order in which series take them.
inline constexpr std::array<Shade, 8> kLineShades = {{
    {{0x00, 0x72, 0xB2}, {0x56, 0xB4, 0xE9}},  // blue
    {{0xB8, 0x3C, 0x00}, {0xFF, 0x8B, 0x4A}},  // vermilion
    {{0x00, 0x80, 0x5C}, {0x2C, 0xC4, 0x98}},  // green
    {{0xA8, 0x48, 0x88}, {0xE6, 0x9A, 0xCB}},  // purple
    {{0xB2, 0x84, 0x00}, {0xF5, 0xDC, 0x6A}},  // amber
    {{0x3D, 0x45, 0x52}, {0xCF, 0xD5, 0xDF}},  // slate
    {{0x7B, 0x2D, 0x26}, {0xD9, 0x8B, 0x7F}},  // brick
    {{0x54, 0x3C, 0xA8}, {0x97, 0x86, 0xFF}},  // indigo
}};

/// Of areas; those for which is_hatched() holds are strokes on the surface.
inline constexpr std::array<Shade, 9> kAreaShades = {{
    {{0x00, 0x72, 0xB2}, {0x4A, 0x9F, 0xD8}},  // blue
    {{0xB8, 0x3C, 0x00}, {0xFF, 0x8B, 0x4A}},  // vermilion
    {{0xB2, 0x84, 0x00}, {0xF5, 0xDC, 0x6A}},  // amber
    {{0xA8, 0x48, 0x88}, {0xE6, 0x9A, 0xCB}},  // purple
    {{0x00, 0x8A, 0x63}, {0x2C, 0xC4, 0x98}},  // green
    {{0x57, 0x5C, 0x67}, {0xA9, 0xAF, 0xBB}},  // grey, rising strokes
    {{0x3D, 0x45, 0x52}, {0x7C, 0x86, 0x99}},  // slate
    {{0x7B, 0x2D, 0x26}, {0xC9, 0x7A, 0x6E}},  // brick
    {{0x8A, 0x8F, 0x99}, {0x77, 0x7D, 0x89}},  // pale grey, dots
}};
constexpr bool is_hatched(size_t area) {
  return area == 5 || area == 8;
}

/// The most that a cell of a heat map covers of the surface with kAccent: ink stays readable on it.
inline constexpr double kHeatOpacity = 0.45;

std::string hex(Colour colour);                          ///< "#0072b2"
double contrast(Colour a, Colour b);                     ///< WCAG 2, 1 to 21
Colour mix(Colour below, Colour above, double opacity);  ///< as a browser lays one over the other

}  // namespace brigade::report
