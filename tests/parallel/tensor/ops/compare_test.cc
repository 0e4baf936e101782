// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/compare.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

using ::testing::HasSubstr;
using OfTwo = ShardedTensor (*)(const ShardedTensor&, const ShardedTensor&);
using OfNumber = ShardedTensor (*)(const ShardedTensor&, double);
using TruthOfTwo = at::Tensor (*)(const at::Tensor&, const at::Tensor&);
using TruthOfNumber = at::Tensor (*)(const at::Tensor&, const at::Scalar&);

void expect_test(OfTwo op, TruthOfTwo truth) {
  expect_equal_to_libtorch(
      {{"x1", {"i64[5]", "i64[5]"}},
       {"x2", {"i64[5@x,9]", "i64[9]"}},
       {"x2,y4", {"i64[5@x,9@y]", "i64[5,1]"}},
       {"x2", {"5{R:x}", "5"}},
       {"x3", {"5@x", "5@x"}}},
      [&](const auto& of) { return op(of[0], of[1]); },
      [&](const auto& of) { return truth(of[0], of[1]); });
}

void expect_test(OfNumber op, TruthOfNumber truth) {
  expect_equal_to_libtorch(
      {{"x1", {"i64[5]"}}, {"x2", {"i64[9@x]"}}, {"x2", {"5{R:x}"}}},
      [&](const auto& of) { return op(of[0], 2); },
      [&](const auto& of) { return truth(of[0], 2); });
}

TEST(Compare, EqualsLibtorchOnEveryMesh) {
  expect_test(OfTwo{equal}, TruthOfTwo{at::eq});
  expect_test(OfTwo{not_equal}, TruthOfTwo{at::ne});
  expect_test(OfTwo{less}, TruthOfTwo{at::lt});
  expect_test(OfTwo{less_equal}, TruthOfTwo{at::le});
  expect_test(OfTwo{greater}, TruthOfTwo{at::gt});
  expect_test(OfTwo{greater_equal}, TruthOfTwo{at::ge});
}

TEST(Compare, TakesNumbers) {
  expect_test(OfNumber{equal}, TruthOfNumber{at::eq});
  expect_test(OfNumber{not_equal}, TruthOfNumber{at::ne});
  expect_test(OfNumber{less}, TruthOfNumber{at::lt});
  expect_test(OfNumber{less_equal}, TruthOfNumber{at::le});
  expect_test(OfNumber{greater}, TruthOfNumber{at::gt});
  expect_test(OfNumber{greater_equal}, TruthOfNumber{at::ge});
}

TEST(Compare, GivesMasksThatNoGradientIsOwedTo) {
  const Op op = [](const auto& of) { return less(of[0], of[1]); };
  EXPECT_EQ(type_of({"x2", {"5{R:x}", "5"}}, op), "bool[5]");
  EXPECT_EQ(type_of({"x2", {"5@x", "5"}}, op), "bool[5@x]");
  EXPECT_EQ(type_of({"x2", {"5{R:x}"}}, [](const auto& of) { return less(of[0], 0); }), "bool[5]");
  EXPECT_EQ(ledger_of({"x2", {"5@x", "5"}}, op), "");
}

TEST(Compare, RefusesUnfinishedSums) {
  EXPECT_THAT(refusal_of({"x2", {"5{U:x}"}}, [](const auto& of) { return greater(of[0], 0); }),
              HasSubstr("greater: operand 0 f32[5]{U:x} is unreduced over x"));
}

TEST(Logic, EqualsLibtorchOnEveryMesh) {
  const std::vector<Placed> placements = {{"x2", {"bool[5@x,9]", "bool[9]"}},
                                          {"x2,y4", {"bool[5@x,9@y]", "bool[5,1]"}}};
  expect_equal_to_libtorch(
      placements,
      [](const auto& of) { return logical_and(of[0], logical_not(of[1])); },
      [](const auto& of) { return at::logical_and(of[0], at::logical_not(of[1])); });
  expect_equal_to_libtorch(
      placements,
      [](const auto& of) { return logical_or(of[0], of[1]); },
      [](const auto& of) { return at::logical_or(of[0], of[1]); });
}

TEST(Logic, RefusesWhatIsNoMask) {
  EXPECT_EQ(refusal_of({"x2", {"bool[4@x]", "4@x"}},
                       [](const auto& of) { return logical_and(of[0], of[1]); }),
            "logical_and: expected masks of bool, found f32[4@x]; compare it with a number");
  EXPECT_NE(refusal_of({"x1", {"i64[4]"}}, [](const auto& of) { return logical_not(of[0]); }), "");
}

const Op kWhere = [](const auto& of) { return where(of[0], of[1], of[2]); };

TEST(Where, EqualsLibtorchOnEveryMesh) {
  expect_equal_to_libtorch({{"x1", {"bool[5]", "5", "5"}},
                            {"x2", {"bool[5@x]", "5@x", "5@x"}},
                            {"x2", {"bool[5@x]", "5", ""}},
                            {"x2", {"bool[]", "5@x", "5@x"}},
                            {"x2", {"bool[5]", "5{R:x}", "5{R:x}"}},
                            {"x2", {"bool[5]", "5{U:x}", "5{U:x}"}},
                            {"x2,y4", {"bool[5@x,9@y]", "9{R:x}", "5,9@y"}},
                            {"x3,y2", {"bool[7,2@y]", "7@x,2@y", "7@x,1"}}},
                           kWhere,
                           [](const auto& of) { return at::where(of[0], of[1], of[2]); });
}

TEST(Where, RefusesWhatDoesNotChooseAlikeOrIsNoMask) {
  EXPECT_THAT(refusal_of({"x2", {"bool[8@x]", "{U:x}", "{U:x}"}}, kWhere),
              HasSubstr("operand 0 bool[8@x] must be equal on all ranks of x"));
  EXPECT_THAT(refusal_of({"x2", {"bool[8]", "8{U:x}", "8"}}, kWhere),
              HasSubstr("operand 2 f32[8] is not"));
  EXPECT_THAT(refusal_of({"x2", {"8", "8", "8"}}, kWhere), HasSubstr("should be bool"));
}

}  // namespace
}  // namespace brigade::tensor
