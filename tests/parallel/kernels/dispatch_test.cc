// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/dispatch.h"

#include <gmock/gmock.h>

#include "parallel/kernels/adamw.h"
#include "parallel/kernels/causal_softmax.h"
#include "parallel/kernels/cross_entropy.h"
#include "parallel/kernels/norm.h"
#include "parallel/kernels/rms_norm.h"
#include "parallel/kernels/rotary.h"
#include "parallel/kernels/silu_gate.h"
#include "tests/parallel/kernels/kernel_checks.h"

namespace brigade::kernels {
namespace {

TEST(Dispatch, NamesTheInstructionSetThatRuns) {
  EXPECT_THAT(instruction_set(), testing::AnyOf("x86-64-v4", "x86-64-v3", "baseline"));
}

/// Values that need no library to be the same everywhere: multiples of 2^-20 in [-range, range).
Floats exact_floats(int64_t count, uint64_t seed, float range) {
  std::mt19937_64 random(seed);
  Floats values(to_size(count));
  for (float& value : values) {
    value = (static_cast<float>(random() >> 43) * 0x1p-20F - 1.0F) * range;
  }
  return values;
}

uint64_t fingerprint(const Floats& values) {
  uint64_t hash = 0xcbf29ce484222325U;
  for (const float value : values) {
    hash = (hash ^ std::bit_cast<uint32_t>(value)) * 0x100000001b3U;
  }
  return hash;
}

// The fingerprints below came from AVX-512 code. The sanitizer builds run the baseline code, other
// processors AVX2: all must meet them.
class SameBitsOnEveryInstructionSet : public testing::Test {
 protected:
  static constexpr int64_t kRows = 3;
  static constexpr int64_t kDim = 107;
  static constexpr int64_t kCount = kRows * kDim;

  Floats x_ = exact_floats(kCount, 1, 8);
  Floats dy_ = exact_floats(kCount, 2, 4);
  Floats other_ = exact_floats(kCount, 3, 2);
  Floats gain_ = exact_floats(kDim, 4, 2);
  Floats first_ = Floats(to_size(kCount));
  Floats second_ = Floats(to_size(kCount));
  Floats per_row_ = Floats(to_size(kRows));
};

TEST_F(SameBitsOnEveryInstructionSet, RmsNorm) {
  const RmsNormShape shape = {kRows, kDim};
  Floats dgain(to_size(kDim));
  rms_norm_forward(shape, x_.data(), gain_.data(), 1e-5F, first_.data(), per_row_.data(), 0, kRows);
  rms_norm_backward(
      shape, x_.data(), gain_.data(), per_row_.data(), dy_.data(), second_.data(), 0, kRows);
  rms_norm_gain_gradient(shape, x_.data(), per_row_.data(), dy_.data(), dgain.data(), 0, kDim);
  EXPECT_EQ(fingerprint(first_), 0xfdbcb9528184e578U);
  EXPECT_EQ(fingerprint(per_row_), 0x83ebe47c99fdb883U);
  EXPECT_EQ(fingerprint(second_), 0xd9aa1248b5c157acU);
  EXPECT_EQ(fingerprint(dgain), 0xe810b7f94685e064U);
}

TEST_F(SameBitsOnEveryInstructionSet, Rotary) {
  const RotaryShape shape = {3, 3, 1, 106};
  rotary_forward(shape, x_.data(), dy_.data(), other_.data(), first_.data(), 0, 3);
  rotary_backward(shape, x_.data(), dy_.data(), other_.data(), second_.data(), 0, 3);
  EXPECT_EQ(fingerprint(first_), 0x5af1822ddb48775dU);
  EXPECT_EQ(fingerprint(second_), 0x5213e9b74a84dfa4U);
}

TEST_F(SameBitsOnEveryInstructionSet, SiluGate) {
  Floats y(to_size(kCount));
  silu_gate_forward(x_.data(), other_.data(), y.data(), 0, kCount);
  silu_gate_backward(
      x_.data(), other_.data(), dy_.data(), first_.data(), second_.data(), 0, kCount);
  EXPECT_EQ(fingerprint(y), 0xf2f6f791b6093f6eU);
  EXPECT_EQ(fingerprint(first_), 0x6ed5a215e0c5af39U);
  EXPECT_EQ(fingerprint(second_), 0x81b88001f43156a9U);
}

TEST_F(SameBitsOnEveryInstructionSet, CrossEntropy) {
  const LocalLogits<float> logits = {x_.data(), kDim, 10};
  const std::vector<int64_t> targets = {12, kNotTrained, 116};
  const Floats scales(to_size(kRows), 0.25F);
  Floats sum(to_size(kRows));
  row_max(logits, 0, kRows, per_row_.data());
  row_sum_exp(logits, per_row_.data(), 0, kRows, sum.data());
  cross_entropy_gradient(
      logits, per_row_.data(), sum.data(), targets.data(), scales.data(), 0, kRows, first_.data());
  EXPECT_EQ(fingerprint(per_row_), 0x4d9123e995370fe7U);
  EXPECT_EQ(fingerprint(sum), 0xed7aee79761b478bU);
  EXPECT_EQ(fingerprint(first_), 0x9dc76cfc139705f8U);
}

TEST_F(SameBitsOnEveryInstructionSet, CausalSoftmax) {
  const CausalTile tile = {kRows, kDim, 101, kDim};
  causal_softmax(tile, 0.125F, x_.data());
  causal_softmax_backward(tile, 0.125F, x_.data(), dy_.data());
  EXPECT_EQ(fingerprint(x_), 0x6ae387adb4245993U);
  EXPECT_EQ(fingerprint(dy_), 0xea0a20e7150a93d4U);
}

TEST_F(SameBitsOnEveryInstructionSet, Updates) {
  const AdamWStep step = {.gradient_factor = 0.75F,
                          .decay = 0.999F,
                          .first_rate = 0.1F,
                          .beta2 = 0.999F,
                          .second_rate = 0.001F,
                          .step_size = 0.01F,
                          .root_bias_correction = 0.3F,
                          .eps = 1e-8F};
  adamw(step, dy_.data(), x_.data(), first_.data(), second_.data(), 0, kCount);
  adamw(step, other_.data(), x_.data(), first_.data(), second_.data(), 0, kCount);
  EXPECT_EQ(fingerprint(x_), 0x7e162dc633d4a144U);
  EXPECT_EQ(fingerprint(first_), 0x63117b49acf9f7b5U);
  EXPECT_EQ(fingerprint(second_), 0xe9046d7cdb2f0bacU);
  sgd(0.1F, 0.01F, 0.75F, dy_.data(), other_.data(), 0, kCount);
  EXPECT_EQ(fingerprint(other_), 0xba3541a557e98268U);
}

TEST_F(SameBitsOnEveryInstructionSet, SumOfSquares) {
  const double sum = sum_of_squares(x_.data(), kCount);
  EXPECT_EQ(std::bit_cast<uint64_t>(sum), 0x40b85bf64154f940U);
}

}  // namespace
}  // namespace brigade::kernels
