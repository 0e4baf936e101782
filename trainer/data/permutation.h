// SPDX-License-Identifier: Apache-2.0
/// Permutation: the order of samples in one epoch, as a function of (seed, epoch, index).
///
///   Permutation order(seed, epoch, 1000);
///   order(0);   // which of the 1000 samples comes first
///
/// A Feistel network of 8 rounds, keyed by Philox, permutes the smallest square power of two that
/// holds `size`; images outside are sent through again until they fall inside (cycle walking; Black
/// and Rogaway, CT-RSA 2002). No table: memory O(1), below 4 passes on average for any size.
#pragma once

#include <cstdint>

namespace brigade::data {

class Permutation {
 public:
  /// Needs size >= 1, 0 <= epoch < 2^32.
  Permutation(uint64_t seed, int64_t epoch, int64_t size);

  /// A bijection of [0, size). Needs 0 <= index < size.
  int64_t operator()(int64_t index) const;

 private:
  uint64_t pass(uint64_t value) const;

  uint64_t seed_;
  uint32_t epoch_;
  uint64_t size_;
  uint64_t half_bits_ = 1;
};

}  // namespace brigade::data
