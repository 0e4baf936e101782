// SPDX-License-Identifier: Apache-2.0
/// innermost(): of intervals that nest, who holds each instant.
///
///   innermost({{0, 10, 90}, {1, 20, 30}}, 0, 100)
///   // nobody to 10, 0 to 20, 1 to 30, 0 to 90, nobody to 100
///
/// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace brigade::scaling {

struct Hold {
  static constexpr size_t kNobody = std::numeric_limits<size_t>::max();

  size_t owner = kNobody;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;

  bool operator==(const Hold&) const = default;
};

/// [begin_ns, end_ns), cut where the owner changes, without gaps; nobody holds what lies in no
/// interval. Of equal intervals the first is the innermost. One that crosses the end of another
/// that began earlier is cut there.
std::vector<Hold> innermost(std::vector<Hold> nested, int64_t begin_ns, int64_t end_ns);

}  // namespace brigade::scaling
