// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/softmax.h"

#include <limits>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/tensor/casts.h"
#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

using sharding::PartitionSpec;
using ::testing::HasSubstr;

/// Rows whole and split, evenly and not, with empty pieces.
const std::vector<Placed> kPlacements = {{"x1", {"4,5"}},
                                         {"x2", {"4@x,5"}},
                                         {"x2", {"4,5@x"}},
                                         {"x2", {"4,5{R:x}"}},
                                         {"x4", {"2,7@x"}},
                                         {"x8", {"3,5@x"}},
                                         {"x2,y4", {"5@x,9@y"}},
                                         {"x3,y2", {"2,7@(x,y)"}},
                                         {"x3,y2", {"3,7@x{R:y}"}}};

TEST(Softmax, EqualsLibtorchsOnEveryMesh) {
  for (const int64_t dim : {-1, 0}) {
    expect_equal_to_libtorch(
        kPlacements,
        [&](const auto& of) { return softmax(of[0], dim); },
        [&](const auto& of) { return at::softmax(of[0], dim); });
    expect_equal_to_libtorch(
        kPlacements,
        [&](const auto& of) { return log_softmax(of[0], dim); },
        [&](const auto& of) { return at::log_softmax(of[0], dim); });
    for (const bool keep : {false, true}) {
      expect_equal_to_libtorch(
          kPlacements,
          [&](const auto& of) { return logsumexp(of[0], dim, keep); },
          [&](const auto& of) { return at::logsumexp(of[0], dim, keep); });
    }
  }
}

TEST(Softmax, ReducesAMaximumAndASumOfASplitRow) {
  const Placed split{"x2", {"4,8@x"}};
  EXPECT_EQ(ledger_of(split, [](const auto& of) { return softmax(of[0], 1); }),
            "forward all_reduce x 32; forward all_reduce x 32; backward all_reduce x 32");
  EXPECT_EQ(ledger_of(split, [](const auto& of) { return log_softmax(of[0], 1); }),
            "forward all_reduce x 32; forward all_reduce x 32; backward all_reduce x 32");
  EXPECT_EQ(ledger_of(split, [](const auto& of) { return logsumexp(of[0], 1); }),
            "forward all_reduce x 32; forward all_reduce x 32");
  EXPECT_EQ(ledger_of({"x2", {"4@x,8"}}, [](const auto& of) { return softmax(of[0], 1); }), "");
}

TEST(Softmax, StandsLargeAndMaskedScores) {
  on_mesh("x2", [](Program& program) {
    const float minus = -std::numeric_limits<float>::infinity();
    const at::Tensor whole =
        at::tensor({9000.0F, 9001.0F, minus, 8999.0F, minus, minus, minus, minus}).view({2, 4});
    const ShardedTensor x = place(program, whole, PartitionSpec({{}, {"x"}}));
    const at::Tensor found = collect(softmax(x, 1));
    EXPECT_TRUE(at::allclose(found[0], at::softmax(whole[0], 0)));
    EXPECT_TRUE(at::isnan(found[1]).all().item<bool>());
    EXPECT_TRUE(at::allclose(collect(logsumexp(x, 1)), at::logsumexp(whole, 1)));
  });
}

TEST(Softmax, RefusesUnfinishedSumsWholeNumbersAndDimsThatAreNotThere) {
  for (const auto op : {softmax, log_softmax}) {
    EXPECT_NE(refusal_of({"x2", {"4{U:x}"}}, [&](const auto& of) { return op(of[0], 0); }), "");
    EXPECT_NE(refusal_of({"x2", {"4@x"}}, [&](const auto& of) { return op(of[0], 1); }), "");
    EXPECT_NE(refusal_of({"x2", {"i64[4]"}}, [&](const auto& of) { return op(of[0], 0); }), "");
  }
  EXPECT_THAT(refusal_of({"x2", {"4{U:x}"}}, [](const auto& of) { return softmax(of[0], 0); }),
              HasSubstr("softmax: operand 0 f32[4]{U:x}"));
  EXPECT_THAT(refusal_of({"x2", {"4@x"}}, [](const auto& of) { return logsumexp(of[0], 2); }),
              HasSubstr("logsumexp: dims (2) are not"));
  EXPECT_EQ(refusal_of({"x2", {"i64[4]"}}, [](const auto& of) { return logsumexp(of[0], 0); }),
            "logsumexp: expected floats, found i64[4]; cast it with to()");
}

TEST(Softmax, InBf16IsTheFloatOpRounded) {
  const std::vector<Placed> rows = {{"x1", {"4,33"}}, {"x2", {"4@x,33"}}, {"x2", {"4,33@x"}}};
  expect_bf16_rounds_float(rows, [](const auto& of) { return softmax(of[0], -1); });
  expect_bf16_rounds_float(rows, [](const auto& of) { return log_softmax(of[0], -1); });
  expect_bf16_rounds_float(rows, [](const auto& of) { return logsumexp(of[0], -1, false); });
}

}  // namespace
}  // namespace brigade::tensor
