// SPDX-License-Identifier: Apache-2.0
/// Sums of a run in an order that no instruction set can change, and its maximum.
///
/// Element i goes into lane i mod N; the lanes are joined by halving: lane l takes lane l + N/2,
/// then l + N/4, and so on. The order depends on the length of the run alone. `term(i)` is called
/// once for each i in [0, count), in lane order; it may also store.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "parallel/kernels/element.h"

namespace brigade::kernels {

inline constexpr int64_t kFloatLanes = 16;
inline constexpr int64_t kDoubleLanes = 16;

/// Joins 2 * kHalf lanes in place and returns the result.
template <int64_t kHalf, class T>
[[gnu::always_inline]] inline T join_lanes(T* lanes) {
  for (int64_t lane = 0; lane < kHalf; ++lane) {
    lanes[lane] += lanes[lane + kHalf];
  }
  if constexpr (kHalf > 1) {
    return join_lanes<kHalf / 2>(lanes);
  } else {
    return lanes[0];
  }
}

template <int64_t kLanes, class T, class Term>
[[gnu::always_inline]] inline T sum_in_lanes(int64_t count, const Term& term) {
  T lanes[static_cast<size_t>(kLanes)] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
#pragma GCC ivdep
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] += term(i + lane);
    }
  }
  for (int64_t lane = 0; i + lane < count; ++lane) {
    lanes[lane] += term(i + lane);
  }
  return join_lanes<kLanes / 2>(lanes);
}

/// term(0) + ... + term(count - 1) in float.
template <class Term>
[[gnu::always_inline]] inline float sum_floats(int64_t count, const Term& term) {
  return sum_in_lanes<kFloatLanes, float>(count, term);
}

/// The same in double.
template <class Term>
[[gnu::always_inline]] inline double sum_doubles(int64_t count, const Term& term) {
  return sum_in_lanes<kDoubleLanes, double>(count, term);
}

/// The largest of x[0, count), -infinity of none. A NaN whose sign bit is clear wins, one whose
/// sign bit is set is passed over.
template <Element T>
[[gnu::always_inline]] inline float max_floats(const T* x, int64_t count) {
  // Flipping the other bits of negative floats makes integers that are ordered as the floats are,
  // and integers may be compared in any order.
  const auto flip = [](int32_t bits) { return bits ^ ((bits >> 31) & 0x7fffffff); };
  int32_t largest = flip(std::bit_cast<int32_t>(-std::numeric_limits<float>::infinity()));
  for (int64_t i = 0; i < count; ++i) {
    largest = std::max(largest, flip(std::bit_cast<int32_t>(widen(x[i]))));
  }
  return std::bit_cast<float>(flip(largest));
}

}  // namespace brigade::kernels
