// SPDX-License-Identifier: Apache-2.0
/// Text and numbers as they stand in HTML and SVG.
///
///   concat("<td>", escaped(name), "</td>")     percent(0.8126) == "81.3 %"
///
/// Numbers that do not exist (NaN, infinities) are shown as a dash. Thread safety: pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace brigade::report {

inline constexpr std::string_view kAbsent = "–";

/// Safe between tags and within quoted attributes. Control characters, which neither HTML nor SVG
/// may hold, become U+FFFD; so do bytes that are no UTF-8.
std::string escaped(std::string_view text);

std::string fixed(double value, int decimals);      ///< 12345.678, 1: "12,345.7"
std::string significant(double value, int digits);  ///< 0.0012345, 3: "0.00123"; 12345, 3: "12,345"
std::string percent(double share, int decimals = 1);  ///< "81.3 %"
std::string exact(double value);                      ///< the shortest that reads back alike

/// For attributes of SVG, to a tenth. Requires a finite number.
std::string coordinate(double value);

/// Width in pixels, rather too large than too small, of text in a common sans-serif font.
double text_width(std::string_view text, double font_px);

}  // namespace brigade::report
