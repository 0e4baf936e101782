// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/adamw.h"

#include <limits>

#include "parallel/base/check.h"
#include "tests/parallel/kernels/kernel_checks.h"

namespace brigade::kernels {
namespace {

constexpr AdamWSettings kSettings = {.learning_rate = 3e-3, .weight_decay = 0.1};

struct State {
  Floats weight, first, second;

  explicit State(int64_t count)
      : weight(random_floats(count, 1)), first(to_size(count), 0), second(to_size(count), 0) {}

  void update(int64_t step, const Floats& gradient, int64_t begin, int64_t end) {
    adamw(adamw_step(kSettings, step, 0.7),
          gradient.data(),
          weight.data(),
          first.data(),
          second.data(),
          begin,
          end);
  }
};

TEST(AdamW, FollowsItsAlgorithmInDoubleOverSteps) {
  for (const int64_t count : kOddSizes) {
    State state(count);
    std::vector<double> weight(state.weight.begin(), state.weight.end());
    std::vector<double> first(weight.size(), 0), second(weight.size(), 0);
    for (int64_t step = 1; step <= 10; ++step) {
      const Floats gradient = random_floats(count, static_cast<uint64_t>(100 + step));
      state.update(step, gradient, 0, count);
      for (size_t i = 0; i < weight.size(); ++i) {
        const double g = 0.7 * wide(gradient[i]);
        first[i] = 0.9 * first[i] + 0.1 * g;
        second[i] = 0.999 * second[i] + 0.001 * g * g;
        const double m = first[i] / (1 - std::pow(0.9, step));
        const double v = second[i] / (1 - std::pow(0.999, step));
        weight[i] = weight[i] * (1 - 3e-3 * 0.1) - 3e-3 * m / (std::sqrt(v) + 1e-8);
        EXPECT_NEAR(state.weight[i],
                    weight[i],
                    1e-7 * static_cast<double>(step) * (std::abs(weight[i]) + 0.01));
        EXPECT_NEAR(state.first[i], first[i], 1e-7 * static_cast<double>(step));
        EXPECT_NEAR(state.second[i], second[i], 2e-7 * static_cast<double>(step) * second[i]);
      }
    }
  }
}

TEST(AdamW, KeepsItsBitsInPiecesAndMisaligned) {
  State whole(1003);
  for (int64_t step = 1; step <= 3; ++step) {
    whole.update(step, random_floats(1003, static_cast<uint64_t>(step)), 0, 1003);
  }
  for (const int64_t offset : kOffsets) {
    const State start(1003);
    Misaligned weight(start.weight, offset);
    Misaligned first(start.first, (offset + 2) % 16);
    Misaligned second(start.second, offset);
    for (int64_t step = 1; step <= 3; ++step) {
      const Floats gradient = random_floats(1003, static_cast<uint64_t>(step));
      run_in_pieces(1003, [&](int64_t begin, int64_t end) {
        adamw(adamw_step(kSettings, step, 0.7),
              gradient.data(),
              weight.data(),
              first.data(),
              second.data(),
              begin,
              end);
      });
    }
    EXPECT_TRUE(same_bits(weight.values(), whole.weight));
    EXPECT_TRUE(same_bits(first.values(), whole.first));
    EXPECT_TRUE(same_bits(second.values(), whole.second));
  }
}

TEST(AdamW, LetsZeroGradientsOnlyDecay) {
  State state(17);
  const Floats before = state.weight;
  state.update(1, Floats(17, 0.0F), 0, 17);
  for (size_t i = 0; i < 17; ++i) {
    EXPECT_LE(ulps(state.weight[i], wide(before[i]) * (1 - 3e-4)), 2.0);
  }
}

TEST(AdamW, CarriesNaNToItsElementAlone) {
  State state(33);
  Floats gradient(33, 1.0F);
  gradient[20] = std::numeric_limits<float>::quiet_NaN();
  state.update(1, gradient, 0, 33);
  EXPECT_TRUE(std::isnan(state.weight[20]));
  EXPECT_TRUE(std::isfinite(state.weight[19]) && std::isfinite(state.weight[21]));
}

TEST(AdamW, RefusesAStepBeforeTheFirst) {
  EXPECT_THROW(adamw_step({}, 0), CheckFailure);
}

TEST(Sgd, AddsDecayToTheGradient) {
  for (const int64_t count : kOddSizes) {
    const Floats gradient = random_floats(count, 1);
    const Floats before = random_floats(count, 2);
    Floats weight = before;
    sgd(0.1F, 0.01F, 0.5F, gradient.data(), weight.data(), 0, count);
    for (size_t i = 0; i < weight.size(); ++i) {
      const double step = 0.1 * (0.5 * wide(gradient[i]) + 0.01 * wide(before[i]));
      EXPECT_NEAR(weight[i], wide(before[i]) - step, 2e-7);
    }
    Floats cut = before;
    run_in_pieces(count, [&](int64_t begin, int64_t end) {
      sgd(0.1F, 0.01F, 0.5F, gradient.data(), cut.data(), begin, end);
    });
    EXPECT_TRUE(same_bits(cut, weight));
  }
}

}  // namespace
}  // namespace brigade::kernels
