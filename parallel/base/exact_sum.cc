// SPDX-License-Identifier: Apache-2.0
#include "parallel/base/exact_sum.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace brigade {
namespace {

// It has no ISO name, and `using` takes no __extension__.
__extension__ typedef unsigned __int128 uint128;  // NOLINT(modernize-use-using)

constexpr int kLowestExponent = -1074;  // of the smallest subnormal
constexpr int64_t kDigitMask = 0xffffffffLL;
constexpr int64_t kAddsBeforeCarry = int64_t{1} << 29;

/// |normalized digits| as a double, rounded once. Digits are in [0, 2^32), the top one not
/// negative.
double round_digits(const std::array<int64_t, ExactSum::kLimbs>& digits) {
  size_t top = ExactSum::kDigits;
  while (top > 0 && digits[top - 1] == 0) {
    --top;
  }
  if (top == 0) {
    return 0.0;
  }
  // 128 bits from the top digit down hold at least 97 significant ones; what lies below only
  // decides ties ("sticky").
  uint128 window = 0;
  for (size_t i = 0; i < 4; ++i) {
    const int64_t digit = top > i ? digits[top - 1 - i] : 0;
    window = (window << 32) | static_cast<uint128>(digit);
  }
  bool sticky = false;
  for (size_t i = 0; i + 4 < top; ++i) {
    sticky = sticky || digits[i] != 0;
  }
  int exponent = static_cast<int>(top) * 32 - 128 + kLowestExponent;  // of the window's lowest bit
  // Keep 64 bits with the rest folded into the lowest, far below a double's 53: one final rounding
  // by the conversion.
  while ((window >> 64) != 0) {
    sticky = sticky || (window & 1) != 0;
    window >>= 1;
    ++exponent;
  }
  uint64_t bits = static_cast<uint64_t>(window) | (sticky ? 1U : 0U);
  // Subnormal results would round twice (conversion, then ldexp): drop to the target's precision by
  // hand.
  const int width = 64 - __builtin_clzll(bits);
  const int excess = std::max(width - 53, kLowestExponent - exponent);
  if (excess > 0 && excess < 64) {
    const uint64_t half = uint64_t{1} << (excess - 1);
    const uint64_t rest = bits & ((half << 1) - 1);
    bits >>= excess;
    exponent += excess;
    if (rest > half || (rest == half && (bits & 1) != 0)) {
      ++bits;
    }
  }
  return std::ldexp(static_cast<double>(bits), exponent);
}

}  // namespace

void ExactSum::add(double term) {
  if (!std::isfinite(term)) {
    ++limbs_[kDigits];
    return;
  }
  if (term == 0.0) {
    return;
  }
  int exponent = 0;
  const double fraction = std::frexp(term, &exponent);
  int64_t mantissa = static_cast<int64_t>(std::ldexp(fraction, 53));
  int position = exponent - 53 - kLowestExponent;  // of the mantissa's lowest bit
  if (position < 0) {                              // subnormal: the low bits are zero
    mantissa >>= -position;
    position = 0;
  }
  const size_t digit = static_cast<size_t>(position / 32);
  const int shift = position % 32;
  const bool negative = mantissa < 0;
  uint128 shifted = static_cast<uint128>(negative ? -mantissa : mantissa) << shift;
  for (size_t i = digit; shifted != 0; ++i) {
    const int64_t part =
        static_cast<int64_t>(static_cast<uint64_t>(shifted) & static_cast<uint64_t>(kDigitMask));
    limbs_[i] += negative ? -part : part;
    shifted >>= 32;
  }
  if (++pending_ >= kAddsBeforeCarry) {
    normalize();
  }
}

void ExactSum::add(const ExactSum& other) {
  ExactSum carried = other;
  carried.normalize();
  normalize();
  for (size_t i = 0; i < kLimbs; ++i) {
    limbs_[i] += carried.limbs_[i];
  }
  pending_ = 1;
}

void ExactSum::normalize() {
  int64_t carry = 0;
  for (size_t i = 0; i + 1 < kDigits; ++i) {
    const int64_t digit = limbs_[i] + carry;
    limbs_[i] = digit & kDigitMask;
    carry = digit >> 32;  // floor, also when negative
  }
  limbs_[kDigits - 1] += carry;
  pending_ = 0;
}

double ExactSum::value() const {
  if (nonfinite_count() != 0) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  ExactSum copy = *this;
  copy.normalize();
  if (copy.limbs_[kDigits - 1] >= 0) {
    return round_digits(copy.limbs_);
  }
  for (size_t i = 0; i < kDigits; ++i) {
    copy.limbs_[i] = -copy.limbs_[i];
  }
  copy.normalize();
  return -round_digits(copy.limbs_);
}

}  // namespace brigade
