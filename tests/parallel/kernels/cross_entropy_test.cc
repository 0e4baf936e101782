// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/cross_entropy.h"

#include <limits>

#include "tests/parallel/kernels/kernel_checks.h"

namespace brigade::kernels {
namespace {

using Targets = std::vector<int64_t>;

struct Pieces {
  Floats max, sum, picked;

  Pieces(const LocalLogits<float>& logits, const Targets& targets)
      : max(targets.size()), sum(targets.size()), picked(targets.size()) {
    const int64_t rows = static_cast<int64_t>(targets.size());
    row_max(logits, 0, rows, max.data());
    row_sum_exp(logits, max.data(), 0, rows, sum.data());
    pick_targets(logits, targets.data(), 0, rows, picked.data());
  }
};

TEST(CrossEntropy, MatchesItsFormulaInDouble) {
  for (const int64_t vocabulary : {1, 3, 15, 17, 31, 33, 100}) {
    const Floats x = random_floats(3 * vocabulary, 1, -20, 20);
    const Targets targets = {0, vocabulary - 1, kNotTrained};
    const LocalLogits<float> logits = {x.data(), vocabulary, 0};
    const Pieces pieces(logits, targets);
    const Floats scales = {0.5F, -0.25F, 2.0F};
    Floats gradient(x.size(), -7);
    cross_entropy_gradient(logits,
                           pieces.max.data(),
                           pieces.sum.data(),
                           targets.data(),
                           scales.data(),
                           0,
                           3,
                           gradient.data());
    for (size_t row = 0; row < 3; ++row) {
      const size_t begin = row * to_size(vocabulary);
      const float max = *std::max_element(x.begin() + static_cast<int64_t>(begin),
                                          x.begin() + static_cast<int64_t>(begin) + vocabulary);
      EXPECT_EQ(pieces.max[row], max);
      double sum = 0;
      for (size_t i = 0; i < to_size(vocabulary); ++i) {
        sum += std::exp(wide(x[begin + i]) - static_cast<double>(max));
      }
      EXPECT_LT(ulps(pieces.sum[row], sum), 3.0);
      for (size_t i = 0; i < to_size(vocabulary); ++i) {
        const double below = wide(x[begin + i]) - static_cast<double>(max);
        const double p = std::exp(below) / sum;
        const double target = static_cast<int64_t>(i) == targets[row] ? 1.0 : 0.0;
        const double expected =
            targets[row] == kNotTrained ? 0.0 : (p - target) * wide(scales[row]);
        EXPECT_NEAR(gradient[begin + i],
                    expected,
                    (3e-7 + 0x1p-24 * std::abs(below)) * (p + target) + 1e-44)
            << "the difference to the maximum is rounded";
      }
    }
    EXPECT_EQ(pieces.picked[0], x[0]);
    EXPECT_EQ(pieces.picked[1], x[to_size(2 * vocabulary - 1)]);
    EXPECT_EQ(pieces.picked[2], 0.0F);
  }
}

TEST(CrossEntropy, OfASplitVocabularyIsThatOfTheWhole) {
  const int64_t rows = 5;
  const Floats x = random_floats(rows * 33, 2, -5, 5);
  const Targets targets = {0, 12, 13, 32, kNotTrained};
  const LocalLogits<float> whole = {x.data(), 33, 0};
  const Pieces expected(whole, targets);
  Floats whole_gradient(x.size());
  cross_entropy_gradient(whole,
                         expected.max.data(),
                         expected.sum.data(),
                         targets.data(),
                         Floats(to_size(rows), 0.1F).data(),
                         0,
                         rows,
                         whole_gradient.data());
  Floats sum(5, 0), picked(5, 0), max = expected.max;
  for (const auto& [first, last] : {std::pair<int64_t, int64_t>{0, 13}, {13, 33}, {33, 33}}) {
    Floats part;
    for (int64_t row = 0; row < rows; ++row) {
      part.insert(part.end(), x.begin() + row * 33 + first, x.begin() + row * 33 + last);
    }
    const LocalLogits<float> local = {part.data(), last - first, first};
    Floats part_max(5), part_sum(5), part_picked(5), gradient(part.size());
    row_max(local, 0, rows, part_max.data());
    row_sum_exp(local, max.data(), 0, rows, part_sum.data());
    pick_targets(local, targets.data(), 0, rows, part_picked.data());
    cross_entropy_gradient(local,
                           max.data(),
                           expected.sum.data(),
                           targets.data(),
                           Floats(to_size(rows), 0.1F).data(),
                           0,
                           rows,
                           gradient.data());
    for (size_t row = 0; row < 5; ++row) {
      EXPECT_LE(part_max[row], max[row]);
      sum[row] += part_sum[row];
      picked[row] += part_picked[row];
      for (int64_t i = first; i < last; ++i) {
        EXPECT_EQ(gradient[row * to_size(last - first) + to_size(i - first)],
                  whole_gradient[row * 33 + to_size(i)]);
      }
    }
  }
  for (size_t row = 0; row < 5; ++row) {
    EXPECT_LT(ulps(sum[row], expected.sum[row]), 2.0);
  }
  EXPECT_EQ(picked, expected.picked);
}

TEST(CrossEntropy, KeepsItsBitsInPiecesAndMisaligned) {
  const int64_t rows = 300;
  const Floats x = random_floats(rows * 17, 3);
  Targets targets(to_size(rows));
  for (size_t i = 0; i < targets.size(); ++i) {
    targets[i] = static_cast<int64_t>(i % 19) - 1;  // beyond both ends of the classes held here
  }
  const LocalLogits<float> logits = {x.data(), 17, 0};
  const Pieces whole(logits, targets);
  Floats gradient(x.size());
  cross_entropy_gradient(logits,
                         whole.max.data(),
                         whole.sum.data(),
                         targets.data(),
                         Floats(to_size(rows), 0.3F).data(),
                         0,
                         rows,
                         gradient.data());
  for (const int64_t offset : kOffsets) {
    Misaligned moved(x, offset);
    const LocalLogits<float> here = {moved.data(), 17, 0};
    Floats max(whole.max.size()), sum(max.size());
    run_in_pieces(rows, [&](int64_t begin, int64_t end) {
      row_max(here, begin, end, max.data());
      row_sum_exp(here, max.data(), begin, end, sum.data());
      cross_entropy_gradient(here,
                             max.data(),
                             sum.data(),
                             targets.data(),
                             Floats(to_size(rows), 0.3F).data(),
                             begin,
                             end,
                             moved.data());
    });
    EXPECT_TRUE(same_bits(max, whole.max));
    EXPECT_TRUE(same_bits(sum, whole.sum));
    EXPECT_TRUE(same_bits(moved.values(), gradient)) << "in place";
  }
}

TEST(CrossEntropy, MakesTheSumOfARowWithNaNItself) {
  for (size_t place = 0; place < 33; ++place) {
    Floats x(33, 1.0F);
    x[place] = std::numeric_limits<float>::quiet_NaN();
    const Pieces pieces({x.data(), 33, 0}, {0});
    EXPECT_TRUE(std::isnan(pieces.sum[0])) << place;
  }
}

TEST(CrossEntropy, SurvivesLogitsOfAnySize) {
  const Floats x = {3e38F, -3e38F, 0.0F};
  const Pieces pieces({x.data(), 3, 0}, {1});
  EXPECT_EQ(pieces.max[0], 3e38F);
  EXPECT_EQ(pieces.sum[0], 1.0F);
}

TEST(CrossEntropy, OfBf16LogitsIsTheFloatKernelWithItsGradientRoundedOnce) {
  const Halves x = narrowed(random_floats(4 * 33, 1, -9, 9));
  const Floats wide_x = widened(x);
  const LocalLogits<float> logits = {wide_x.data(), 33, 7};
  const LocalLogits<BFloat16> half_logits = {x.data(), 33, 7};
  const std::vector<int64_t> targets = {7, kNotTrained, 39, 2};
  const Floats scales = {1, 2, 0.5F, 0.125F};
  Floats max(4), sum(4), picked(4), d(x.size());
  row_max(logits, 0, 4, max.data());
  row_sum_exp(logits, max.data(), 0, 4, sum.data());
  pick_targets(logits, targets.data(), 0, 4, picked.data());
  cross_entropy_gradient(
      logits, max.data(), sum.data(), targets.data(), scales.data(), 0, 4, d.data());
  Floats half_max(4), half_sum(4), half_picked(4);
  Halves half_d(x.size());
  row_max(half_logits, 0, 4, half_max.data());
  row_sum_exp(half_logits, max.data(), 0, 4, half_sum.data());
  pick_targets(half_logits, targets.data(), 0, 4, half_picked.data());
  cross_entropy_gradient(
      half_logits, max.data(), sum.data(), targets.data(), scales.data(), 0, 4, half_d.data());
  EXPECT_TRUE(same_bits(half_max, max));
  EXPECT_TRUE(same_bits(half_sum, sum));
  EXPECT_TRUE(same_bits(half_picked, picked));
  EXPECT_EQ(half_d, narrowed(d));
}

}  // namespace
}  // namespace brigade::kernels
