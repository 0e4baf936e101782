// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/markup.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "parallel/base/check.h"
#include "parallel/base/text.h"

namespace brigade::report {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

/// Bytes of the UTF-8 sequence that begins at `text`, 0 when there is none.
size_t sequence_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t length = lead < 0x80   ? 1
                        : lead < 0xC2 ? 0
                        : lead < 0xE0 ? 2
                        : lead < 0xF0 ? 3
                        : lead < 0xF5 ? 4
                                      : 0;
  const bool whole =
      length != 0 && text.size() >= length &&
      std::all_of(text.begin() + 1, text.begin() + static_cast<int>(length), continues);
  return whole ? length : 0;
}

std::string printed(std::chars_format format, int digits, double value) {
  std::array<char, 400> buffer = {};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format, digits);
  return {buffer.data(), end.ptr};
}

/// The sign as print has it, as wide as a digit.
std::string with_minus(std::string number) {
  return number[0] == '-' ? concat("−", number.substr(1)) : number;
}

std::string with_separators(std::string number) {
  const size_t first = number[0] == '-' ? 1 : 0;
  const size_t point = std::min(number.find('.'), number.size());
  for (size_t at = point; at > first + 3;) {
    at -= 3;
    number.insert(at, 1, ',');
  }
  return number;
}

/// A rounded zero has no sign.
std::string without_negative_zero(std::string number) {
  const bool zero = number.find_first_not_of("-0.") == std::string::npos;
  return zero && number[0] == '-' ? number.substr(1) : number;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = sequence_length(text);
    const char c = text[0];
    if (length == 0 || (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') ||
        c == 0x7F) {
      out += kReplacement;
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\'') {
      out += "&#39;";
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

std::string fixed(double value, int decimals) {
  if (!std::isfinite(value)) {
    return std::string(kAbsent);
  }
  return with_minus(
      with_separators(without_negative_zero(printed(std::chars_format::fixed, decimals, value))));
}

std::string significant(double value, int digits) {
  if (!std::isfinite(value)) {
    return std::string(kAbsent);
  }
  if (value == 0) {
    return "0";
  }
  const int exponent = static_cast<int>(std::floor(std::log10(std::fabs(value))));
  if (exponent < -5 || exponent > 14) {
    return with_minus(printed(std::chars_format::scientific, digits - 1, value));
  }
  return fixed(value, std::max(0, digits - 1 - exponent));
}

std::string percent(double share, int decimals) {
  return std::isfinite(share) ? fixed(share * 100, decimals) + " %" : std::string(kAbsent);
}

std::string exact(double value) {
  if (!std::isfinite(value)) {
    return "";
  }
  std::array<char, 32> buffer = {};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), end.ptr};
}

std::string coordinate(double value) {
  BRIGADE_CHECK(std::isfinite(value), "a coordinate of a drawing must be finite");
  std::string text = without_negative_zero(printed(std::chars_format::fixed, 1, value));
  if (text.ends_with(".0")) {
    text.resize(text.size() - 2);
  }
  return text;
}

double text_width(std::string_view text, double font_px) {
  const auto continuing = std::count_if(text.begin(), text.end(), continues);
  return 0.62 * font_px * static_cast<double>(static_cast<int64_t>(text.size()) - continuing);
}

}  // namespace brigade::report
