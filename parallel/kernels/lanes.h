// SPDX-License-Identifier: Apache-2.0
/// Sums and maxima of a run in an order that no instruction set can change.
///
/// Element i goes into lane i mod N; the lanes are joined by halving: lane l takes lane l + N/2,
/// then l + N/4, and so on. The order depends on the length of the run alone. `term(i)` is called
/// once for each i in [0, count), in lane order; it may also store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace brigade::kernels {

inline constexpr int64_t kFloatLanes = 16;
inline constexpr int64_t kDoubleLanes = 8;

/// Joins lanes in place and returns the result.
template <int64_t kLanes, class T, class Join>
[[gnu::always_inline]] inline T join_lanes(T* lanes, const Join& join) {
  for (int64_t width = kLanes / 2; width > 0; width /= 2) {
    for (int64_t lane = 0; lane < width; ++lane) {
      lanes[lane] = join(lanes[lane], lanes[lane + width]);
    }
  }
  return lanes[0];
}

template <int64_t kLanes, class T, class Term, class Join>
[[gnu::always_inline]] inline T reduce_lanes(int64_t count,
                                             T start,
                                             const Term& term,
                                             const Join& join) {
  T lanes[static_cast<size_t>(kLanes)];
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    lanes[lane] = start;
  }
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
#pragma GCC ivdep
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] = join(lanes[lane], term(i + lane));
    }
  }
  for (int64_t lane = 0; i + lane < count; ++lane) {
    lanes[lane] = join(lanes[lane], term(i + lane));
  }
  return join_lanes<kLanes>(lanes, join);
}

/// term(0) + ... + term(count - 1) in float.
template <class Term>
[[gnu::always_inline]] inline float sum_floats(int64_t count, const Term& term) {
  return reduce_lanes<kFloatLanes>(count, 0.0F, term, [](float a, float b) { return a + b; });
}

/// The same in double.
template <class Term>
[[gnu::always_inline]] inline double sum_doubles(int64_t count, const Term& term) {
  return reduce_lanes<kDoubleLanes>(count, 0.0, term, [](double a, double b) { return a + b; });
}

/// The largest value, -infinity of none; NaN is passed over.
template <class Term>
[[gnu::always_inline]] inline float max_floats(int64_t count, const Term& term) {
  return reduce_lanes<kFloatLanes>(
      count, -std::numeric_limits<float>::infinity(), term, [](float a, float b) {
        return b > a ? b : a;
      });
}

}  // namespace brigade::kernels
