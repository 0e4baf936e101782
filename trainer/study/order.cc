// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/order.h"

#include <utility>

#include "parallel/base/philox.h"

namespace brigade::study {
namespace {

/// Below `count`. A word of 64 bits over few points: the bias is too small to see.
size_t pick(uint64_t seed, uint64_t draw, int64_t round, size_t count) {
  const auto words =
      philox(seed, draw, static_cast<uint32_t>(round), random_stream("scaling", "order"));
  constexpr int kWordBits = 32;
  const uint64_t bits = uint64_t{words[0]} << kWordBits | words[1];
  return bits % count;
}

}  // namespace

std::vector<Turn> order_of(size_t points, int64_t repeats, uint64_t seed) {
  std::vector<Turn> order;
  for (int64_t round = 0; round < repeats; ++round) {
    const size_t begin = order.size();
    for (size_t point = 0; point < points; ++point) {
      order.push_back({point, round});
    }
    for (size_t left = points; left > 1; --left) {
      std::swap(order[begin + left - 1], order[begin + pick(seed, left, round, left)]);
    }
  }
  return order;
}

}  // namespace brigade::study
