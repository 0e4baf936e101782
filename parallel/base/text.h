// SPDX-License-Identifier: Apache-2.0
/// Building messages: concat, join, thousands, counts, and the nearest name for a misspelled one.
///
/// Free of fmt on purpose: libtorch's headers bring a copy of their own, and no file may see two.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

namespace brigade {

/// All arguments, streamed one after another.
template <class... T>
std::string concat(const T&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

/// "a, b, c" of any range of streamable elements.
template <class Range>
std::string join(const Range& range, std::string_view separator = ", ") {
  std::ostringstream out;
  bool first = true;
  for (const auto& element : range) {
    if (!first) {
      out << separator;
    }
    out << element;
    first = false;
  }
  return out.str();
}

/// 1234567 -> "1,234,567".
std::string with_thousands(int64_t value);

/// "1 thread", "2 threads": of nouns whose plural is an s.
std::string counted(int64_t count, std::string_view noun);

/// 12345678 -> "11.8 MiB".
std::string bytes_text(int64_t bytes);

/// The candidate with the least edit distance to `name`, if it is near enough to be a likely slip
/// (distance at most a third of the longer length, at least 1). Ties go to the earlier candidate.
std::optional<std::string> nearest_name(std::string_view name,
                                        std::span<const std::string> candidates);

}  // namespace brigade
