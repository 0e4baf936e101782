// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/sum.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "parallel/base/bf16.h"
#include "parallel/base/binary_tree.h"
#include "parallel/base/check.h"

namespace brigade::kernels {
namespace {

std::vector<std::vector<float>> random_terms(size_t count, size_t length) {
  std::mt19937 random(static_cast<uint32_t>(count * 1000 + length));
  std::normal_distribution<float> normal;
  std::vector<std::vector<float>> terms(count, std::vector<float>(length));
  for (std::vector<float>& term : terms) {
    for (float& value : term) {
      value = normal(random);
    }
  }
  return terms;
}

template <class T>
std::vector<const std::byte*> pointers(const std::vector<std::vector<T>>& terms) {
  std::vector<const std::byte*> result;
  for (const std::vector<T>& term : terms) {
    result.push_back(reinterpret_cast<const std::byte*>(term.data()));
  }
  return result;
}

template <class T>
std::vector<T> sum(const std::vector<std::vector<T>>& terms, DType dtype, TermOp op) {
  std::vector<T> out(terms[0].size());
  sum_terms(pointers(terms),
            reinterpret_cast<std::byte*>(out.data()),
            static_cast<int64_t>(out.size()),
            dtype,
            op);
  return out;
}

TEST(SumTerms, FollowsTheTreeForEveryNumberOfTermsAndLength) {
  for (size_t count = 1; count <= 9; ++count) {
    for (const size_t length : {0U, 1U, 7U, 1023U, 1024U, 1025U, 5000U}) {
      const auto terms = random_terms(count, length);
      const std::vector<float> out = sum(terms, DType::kFloat32, TermOp::kSum);
      for (size_t i = 0; i < length; ++i) {
        const float expected = tree_sum(
            0,
            static_cast<int64_t>(count),
            [&](int64_t t) { return terms[static_cast<size_t>(t)][i]; },
            [](float a, float b) { return a + b; });
        ASSERT_EQ(out[i], expected) << count << ' ' << length << ' ' << i;
      }
    }
  }
}

TEST(SumTerms, MayWriteOverAnyOneOfTheTerms) {
  for (size_t over = 0; over < 5; ++over) {
    auto terms = random_terms(5, 3000);
    const std::vector<float> expected = sum(terms, DType::kFloat32, TermOp::kSum);
    sum_terms(pointers(terms),
              reinterpret_cast<std::byte*>(terms[over].data()),
              3000,
              DType::kFloat32,
              TermOp::kSum);
    EXPECT_EQ(terms[over], expected) << over;
  }
}

TEST(SumTerms, RoundsBf16OnceAtTheEnd) {
  // 1 + 2^-9 + 2^-9: either small term alone is lost in bf16, both together are not.
  const std::vector<std::vector<uint16_t>> terms = {
      {float_to_bf16(1.0F)}, {float_to_bf16(0x1p-9F)}, {float_to_bf16(0x1.8p-9F)}};
  const std::vector<uint16_t> out = sum(terms, DType::kBFloat16, TermOp::kSum);
  EXPECT_EQ(bf16_to_float(out[0]), bf16_to_float(float_to_bf16(1.0F + 0x1p-9F + 0x1.8p-9F)));
  EXPECT_GT(bf16_to_float(out[0]), 1.0F);
}

TEST(SumTerms, AddsIntegersExactlyAndWrapsOverflow) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const std::vector<std::vector<int64_t>> terms = {{kMax, 5}, {1, -7}};
  EXPECT_EQ(sum(terms, DType::kInt64, TermOp::kSum),
            (std::vector<int64_t>{std::numeric_limits<int64_t>::min(), -2}));
}

TEST(SumTerms, TakesMaximaAndMinimaAndKeepsNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::vector<float>> terms = {{1, nan, 3}, {2, 1, nan}, {-5, 0, 0}};
  const std::vector<float> largest = sum(terms, DType::kFloat32, TermOp::kMax);
  const std::vector<float> smallest = sum(terms, DType::kFloat32, TermOp::kMin);
  EXPECT_EQ(largest[0], 2.0F);
  EXPECT_EQ(smallest[0], -5.0F);
  for (const size_t i : {1U, 2U}) {
    EXPECT_TRUE(std::isnan(largest[i]));
    EXPECT_TRUE(std::isnan(smallest[i]));
  }
}

TEST(SumTerms, RefusesASumOfBooleans) {
  const std::vector<std::vector<uint8_t>> terms = {{1}, {1}};
  EXPECT_EQ(sum(terms, DType::kBool, TermOp::kMax), std::vector<uint8_t>{1});
  EXPECT_THROW(sum(terms, DType::kBool, TermOp::kSum), CheckFailure);
}

}  // namespace
}  // namespace brigade::kernels
