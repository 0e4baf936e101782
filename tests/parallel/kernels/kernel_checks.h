// SPDX-License-Identifier: Apache-2.0
/// What the tests of kernels share: random inputs, distances in ulp, and the cuts that try to find
/// an element whose bits depend on where it stands.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "parallel/kernels/element.h"

namespace brigade::kernels {

using Floats = std::vector<float>;
using Halves = std::vector<BFloat16>;

/// Lengths around every vector width, and none.
inline const std::vector<int64_t> kOddSizes = {0, 1, 3, 15, 17, 31, 33, 100};

inline double wide(float value) {
  return static_cast<double>(value);
}

inline size_t to_size(int64_t count) {
  return static_cast<size_t>(count);
}

inline Floats random_floats(int64_t count, uint64_t seed, float low = -2, float high = 2) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> uniform(low, high);
  Floats values(to_size(count));
  std::generate(values.begin(), values.end(), [&] { return uniform(random); });
  return values;
}

inline Halves narrowed(const Floats& values) {
  Halves result(values.size());
  std::transform(values.begin(), values.end(), result.begin(), [](float x) {
    return narrow<BFloat16>(x);  // always inlined, so it has no address
  });
  return result;
}

inline Floats widened(const Halves& values) {
  Floats result(values.size());
  std::transform(values.begin(), values.end(), result.begin(), [](BFloat16 x) { return widen(x); });
  return result;
}

/// |actual - expected| in units of the last place of `expected` (at least of the smallest normal).
inline double ulps(float actual, double expected) {
  if (std::isnan(expected) || std::isnan(actual)) {
    return std::isnan(expected) && std::isnan(actual) ? 0.0 : 1e30;
  }
  const float rounded = static_cast<float>(expected);
  if (std::isinf(rounded) || std::isinf(actual)) {
    return rounded == actual ? 0.0 : 1e30;
  }
  const int exponent = std::max(std::ilogb(std::max(std::abs(rounded), 1e-44F)), -126);
  return std::abs(static_cast<double>(actual) - expected) / std::ldexp(1.0, exponent - 23);
}

inline bool same_bits(const Floats& a, const Floats& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](float x, float y) {
           return std::bit_cast<uint32_t>(x) == std::bit_cast<uint32_t>(y);
         });
}

/// Calls run(begin, end) over pieces of [0, total) that start at every kind of place.
template <class Run>
void run_in_pieces(int64_t total, const Run& run) {
  int64_t begin = 0;
  for (const int64_t cut : {1, 3, 15, 31, 100, 101, 250}) {
    const int64_t end = std::min<int64_t>(cut, total);
    run(begin, end);
    begin = end;
  }
  run(begin, total);
}

/// A copy that starts `offset` floats after a 64-byte boundary.
class Misaligned {
 public:
  Misaligned(const Floats& values, int64_t offset) : storage_(values.size() + 64) {
    const uintptr_t address = reinterpret_cast<uintptr_t>(storage_.data());
    const int64_t to_boundary = static_cast<int64_t>((64 - address % 64) % 64 / sizeof(float));
    data_ = storage_.data() + to_boundary + offset;
    size_ = values.size();
    std::copy(values.begin(), values.end(), data_);
  }
  Misaligned(const Misaligned&) = delete;
  Misaligned& operator=(const Misaligned&) = delete;

  float* data() { return data_; }
  Floats values() const { return Floats(data_, data_ + size_); }

 private:
  Floats storage_;
  float* data_;
  size_t size_;
};

inline constexpr int64_t kOffsets[] = {0, 1, 3, 7, 15};

}  // namespace brigade::kernels
