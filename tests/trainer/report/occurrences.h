// SPDX-License-Identifier: Apache-2.0
/// How often a text stands in another, without overlaps.
#pragma once

#include <string_view>

namespace brigade::report {

inline int occurrences(std::string_view text, std::string_view sought) {
  int count = 0;
  for (size_t at = text.find(sought); at != std::string_view::npos;
       at = text.find(sought, at + sought.size())) {
    ++count;
  }
  return count;
}

}  // namespace brigade::report
