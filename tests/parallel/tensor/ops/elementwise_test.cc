// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/elementwise.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/tensor/casts.h"
#include "parallel/tensor/ops/create.h"
#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

using ::testing::HasSubstr;

const Op kAdd = [](const auto& of) { return add(of[0], of[1]); };
const Op kSub = [](const auto& of) { return sub(of[0], of[1]); };
const Op kMul = [](const auto& of) { return mul(of[0], of[1]); };
const Op kDiv = [](const auto& of) { return div(of[0], of[1]); };

/// Equal splits, broadcasts, free slices, marked and reduced copies; sizes that do not divide.
const std::vector<Placed> kPlacements = {{"x1", {"5,3", "5,3"}},
                                         {"x2", {"5@x,3", "5@x,3"}},
                                         {"x2", {"5@x,3", "5,3"}},
                                         {"x2", {"5,3", "5@x,3"}},
                                         {"x2", {"5@x,3", "3{R:x}"}},
                                         {"x2", {"5@x,3", "5,3{R:x}"}},
                                         {"x2", {"5{R:x}", "5{R:x}"}},
                                         {"x4", {"7@x", ""}},
                                         {"x8", {"11@x,2", "2"}},
                                         {"x2,y4", {"5@x,9@y", "1,9"}},
                                         {"x2,y4", {"5@x,1", "9@y"}},
                                         {"x3,y2", {"7@(x,y),2", "7,1"}},
                                         {"x3,y2", {"7@x,4@y", "4{R:x}"}}};

TEST(Elementwise, EqualsLibtorchOnEveryMeshInRowsE1E7E9E11) {
  expect_equal_to_libtorch(kPlacements, kAdd, [](const auto& of) { return of[0] + of[1]; });
  expect_equal_to_libtorch(kPlacements, kSub, [](const auto& of) { return of[0] - of[1]; });
  expect_equal_to_libtorch(kPlacements, kMul, [](const auto& of) { return of[0] * of[1]; });
  expect_equal_to_libtorch(
      kPlacements,
      [](const auto& of) { return of[0] / (of[1] + 2.0); },
      [](const auto& of) { return of[0] / (of[1] + 2); });
  expect_equal_to_libtorch(
      kPlacements,
      [](const auto& of) { return maximum(of[0], of[1]); },
      [](const auto& of) { return at::maximum(of[0], of[1]); });
  expect_equal_to_libtorch(
      kPlacements,
      [](const auto& of) { return minimum(of[0], of[1]); },
      [](const auto& of) { return at::minimum(of[0], of[1]); });
}

TEST(Elementwise, SplitsTheGradientOfEqualElementsInHalves) {
  expect_equal_to_libtorch(
      {{"x2", {"5@x"}}},
      [](const auto& of) { return maximum(of[0], of[0] * 1.0); },
      [](const auto& of) { return at::maximum(of[0], of[0] * 1.0); });
}

TEST(Elementwise, TakesNumbers) {
  const std::vector<Placed> placements = {{"x1", {"5"}}, {"x2", {"5@x"}}, {"x3", {"4{R:x}"}}};
  expect_equal_to_libtorch(
      placements,
      [](const auto& of) { return 3.0 - (0.5 + -of[0] * 2.0 - 1.0 + 2.0 * of[0]) / 4.0; },
      [](const auto& of) { return 3.0 - (0.5 + -of[0] * 2.0 - 1.0 + 2.0 * of[0]) / 4.0; });
  expect_equal_to_libtorch(
      placements,
      [](const auto& of) { return 6.0 / (of[0] + 2.0); },
      [](const auto& of) { return 6.0 / (of[0] + 2.0); });
  expect_equal_to_libtorch(
      {{"x2", {"i64[5@x]"}}},
      [](const auto& of) { return of[0] * 2.0 + 1.0; },
      [](const auto& of) { return of[0] * 2 + 1; });
}

TEST(Elementwise, RefusesNumbersThatTheElementsCannotHold) {
  EXPECT_EQ(refusal_of({"x2", {"i64[4@x]"}}, [](const auto& of) { return of[0] * 0.5; }),
            "mul: i64[4@x] cannot take the number 0.5; cast it with to()");
  EXPECT_THAT(refusal_of({"x2", {"bool[4@x]"}}, [](const auto& of) { return of[0] + 1.0; }),
              HasSubstr("cannot take the number 1"));
  EXPECT_THAT(refusal_of({"x2", {"i64[4@x]"}}, [](const auto& of) { return of[0] / 2.0; }),
              HasSubstr("expected floats"));
}

TEST(Elementwise, LetsUnfinishedSumsThroughWhereTheAlgebraAllowsInRowE10) {
  const Truth sums = [](const auto& of) { return of[0] + of[1]; };
  const std::vector<Placed> sums_at = {{"x2", {"5{U:x}", "5{U:x}"}},
                                       {"x2,y3", {"4@x,5{U:y}", "4@x,5{U:y}"}},
                                       {"x2,y4", {"5{U:x,y}", "{U:x,y}"}}};
  expect_equal_to_libtorch(sums_at, kAdd, sums);
  expect_equal_to_libtorch(sums_at, kSub, [](const auto& of) { return of[0] - of[1]; });
  const std::vector<Placed> products_at = {{"x2", {"5{U:x}", "5{R:x}"}},
                                           {"x3", {"4,5{U:x}", "5{R:x}"}},
                                           {"x2,y2", {"4@y{U:x}", "4@y{R:x}"}}};
  expect_equal_to_libtorch(products_at, kMul, [](const auto& of) { return of[0] * of[1]; });
  expect_equal_to_libtorch(products_at, kDiv, [](const auto& of) { return of[0] / of[1]; });
  expect_equal_to_libtorch(
      {{"x2", {"5{U:x}"}}},
      [](const auto& of) { return of[0] * 3.0 / 2.0; },
      [](const auto& of) { return of[0] * 1.5; });
  EXPECT_EQ(type_of({"x2", {"5{U:x}", "5{R:x}"}}, kMul), "f32[5]{U:x}");
}

TEST(Elementwise, RefusesUnfinishedSumsElsewhereInRowE10) {
  EXPECT_EQ(refusal_of({"x2", {"8{U:x}", "8"}}, kAdd),
            "add: all operands must be unreduced over the same axes, here x; operand 1 f32[8] is "
            "not; reshard it, or finish the sums first");
  EXPECT_THAT(refusal_of({"x2", {"8{U:x}", "8{U:x}"}}, kMul), HasSubstr("only one factor"));
  EXPECT_THAT(refusal_of({"x2", {"8{U:x}", "8"}}, kMul), HasSubstr("should be reduced along"));
  EXPECT_THAT(refusal_of({"x2", {"8{R:x}", "8{U:x}"}}, kDiv), HasSubstr("numerator may be"));
  EXPECT_THAT(refusal_of({"x2", {"8{U:x}"}}, [](const auto& of) { return of[0] + 1.0; }),
              HasSubstr("which only linear ops let through"));
  EXPECT_THAT(refusal_of({"x2", {"8{Umax:x}", "8{Umax:x}"}}, kAdd), HasSubstr("terms of a max"));
}

TEST(Elementwise, RefusesTwoSplitsOfOneDimInRowsE2E3) {
  EXPECT_EQ(refusal_of({"x2,y2", {"8@x,2@y", "8@y,2@x"}}, kMul),
            "mul: dim 0 (size 8) is split over x by operand 0 f32[8@x,2@y] and over y by operand 1 "
            "f32[8@y,2@x]; reshard one of them");
  EXPECT_THAT(refusal_of({"x2,y2", {"8@x,2@y", "8@(x,y),2"}}, kMul), HasSubstr("over x, y by"));
}

TEST(Elementwise, ReshardsAReducedOperandToASplitOneForFreeInRowE7) {
  const Op op = [](const auto& of) {
    return mul(reshard(of[0], sharding::PartitionSpec({{"x"}}), "test"), of[1]);
  };
  EXPECT_EQ(ledger_of({"x2", {"8{R:x}", "8@x"}}, op), "");
  expect_equal_to_libtorch(
      {{"x2", {"8{R:x}", "8@x"}}}, op, [](const auto& of) { return of[0] * of[1]; });
}

TEST(Elementwise, BroadcastsAReducedOperandOverASplitDimInRowE6) {
  const Op op = [](const auto& of) {
    return add(zeros(of[0].program(), {DType::kFloat32, {2, 8}, sharding::PartitionSpec({{"x"}})}),
               of[0]);
  };
  EXPECT_EQ(type_of({"x2", {"8{R:x}"}}, op), "f32[2@x,8]");
  EXPECT_EQ(ledger_of({"x2", {"8{R:x}"}}, op), "");
  expect_equal_to_libtorch({{"x2", {"8{R:x}"}}}, op, [](const auto& of) {
    return at::zeros({2, 8}) + of[0];
  });
}

TEST(Elementwise, CommunicatesInTheBackwardOfMarkedAndSlicedCopiesAlone) {
  EXPECT_EQ(ledger_of({"x2", {"8@x", "8@x"}}, kMul), "");
  EXPECT_EQ(ledger_of({"x2", {"8@x,2", "2{R:x}"}}, kMul), "");
  EXPECT_EQ(ledger_of({"x2", {"8@x,2", "2"}}, kMul), "backward all_reduce x 16");
  EXPECT_EQ(ledger_of({"x2", {"8@x", ""}}, kAdd), "backward all_reduce x 8");
  EXPECT_EQ(ledger_of({"x2", {"8@x", "8"}}, kMul), "backward gather x 32");
}

TEST(Elementwise, AddsTwoUnfinishedSumsBeforeTheOneAllReduceOfRowL5) {
  const Op op = [](const auto& of) {
    return reshard(of[0] + of[1], sharding::PartitionSpec({{"x"}}), "test");
  };
  const Placed placed{"x4,y2", {"8@x,4{U:y}", "8@x,4{U:y}"}};
  EXPECT_EQ(ledger_of(placed, op), "forward all_reduce y 64");
  expect_equal_to_libtorch({placed}, op, [](const auto& of) { return of[0] + of[1]; });
}

TEST(Elementwise, RefusesElementsOfTwoTypes) {
  EXPECT_EQ(refusal_of({"x1", {"4", "bf16[4]"}}, kAdd),
            "add: the operands' element types differ: f32 and bf16 of operand 1 bf16[4]; cast one "
            "of them");
}

TEST(Elementwise, InBf16IsTheFloatOpRounded) {
  const std::vector<Placed> on_one_rank = {{"x1", {"6,4,9", "6,4,9"}}, {"x1", {"6,4,9", "9"}}};
  const std::vector<Placed> split = {{"x2", {"6@x,4,9", "9{R:x}"}},
                                     {"x2,y2", {"6@x,4,9@y", "9@y{R:x}"}}};
  const Op multiply = [](const auto& of) { return of[0] * of[1]; };
  for (const Op& op : {kAdd, multiply}) {
    expect_bf16_rounds_float(on_one_rank, op);
    expect_bf16_rounds_float(split, op, 4);
  }
}

}  // namespace
}  // namespace brigade::tensor
