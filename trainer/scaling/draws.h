// SPDX-License-Identifier: Apache-2.0
/// The random indices of a bootstrap: the same for the same seed and purpose, on every machine.
///
///   Draws draws(seed, "fit Amdahl");
///   double value = sample[draws.below(sample.size())];
///
/// Thread safety: one object, one thread. Cost: a quarter of a Philox block a number.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace brigade::scaling {

class Draws {
 public:
  Draws(uint64_t seed, std::string_view purpose);

  /// Uniform in [0, count); `count` from 1 to 2^32 - 1.
  size_t below(size_t count);

 private:
  uint64_t seed_;
  uint64_t stream_;
  uint64_t taken_ = 0;
  std::array<uint32_t, 4> block_ = {};
};

}  // namespace brigade::scaling
