// SPDX-License-Identifier: Apache-2.0
/// ExactSum: a sum of doubles that no order, split or rank count can change.
///
/// A fixed-point number wide enough for every double, in 32-bit digits held by int64 limbs; adding
/// integers is exact, so the sum is, too (as in Kulisch's long accumulator). It travels between
/// ranks as its limbs: summing the limbs of all ranks with an integer all-reduce and reading
/// value() gives the correctly rounded sum of all terms on every rank.
///
/// Non-finite terms are counted, not added; value() is then NaN.
///
/// Thread safety: distinct objects, safe; a shared object, unsafe.
/// Limit:         none on additions: add() carries by itself every 2^29. Up to 2^30 accumulators,
///                each normalize()d, may be summed limb by limb.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace brigade {

class ExactSum {
 public:
  /// 2^-1074 ... 2^1024 is 2098 bits: 66 digits of 32 bits, one of room on top, and the count of
  /// non-finite terms.
  static constexpr size_t kDigits = 68;
  static constexpr size_t kLimbs = kDigits + 1;

  void add(double term);
  void add(const ExactSum& other);

  /// The sum, rounded once to nearest even; NaN if a term was not finite.
  double value() const;

  /// How many terms were NaN or infinite.
  int64_t nonfinite_count() const { return limbs_[kDigits]; }

  /// The travelling form: sums of limbs are limbs of sums. Call normalize() before sending.
  std::span<int64_t, kLimbs> limbs() { return limbs_; }
  std::span<const int64_t, kLimbs> limbs() const { return limbs_; }

  /// Carries, so that every digit but the top one lies in [0, 2^32). Does not change the value.
  void normalize();

 private:
  std::array<int64_t, kLimbs> limbs_ = {};
  int64_t pending_ = 0;  // additions since the last carry
};

}  // namespace brigade
