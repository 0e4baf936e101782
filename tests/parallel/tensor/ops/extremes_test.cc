// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/extremes.h"

#include <cmath>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/tensor/casts.h"
#include "parallel/tensor/ops/create.h"
#include "parallel/tensor/ops/elementwise.h"
#include "parallel/tensor/ops/map.h"
#include "parallel/tensor/ops/unary.h"
#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

using sharding::PartitionSpec;
using sharding::Reduction;
using ::testing::HasSubstr;

/// Whole and split, evenly and not, with empty pieces.
const std::vector<Placed> kPlacements = {{"x1", {"5,3"}},
                                         {"x2", {"5@x,3"}},
                                         {"x2", {"5,3@x"}},
                                         {"x2", {"5,3{R:x}"}},
                                         {"x8", {"5@x,3"}},
                                         {"x2,y4", {"5@x,9@y"}},
                                         {"x3,y2", {"7@(x,y),2"}},
                                         {"x3,y2", {"7@x,2{R:y}"}}};

/// A tensor in which many elements are equal.
at::Tensor rounded(const at::Tensor& x) {
  return at::round(x * 2);
}

TEST(Extremes, EqualLibtorchsOnEveryMeshInRowF6) {
  for (const int64_t dim : {0, -1}) {
    for (const bool keep : {false, true}) {
      expect_equal_to_libtorch(
          kPlacements,
          [&](const auto& of) { return amax(of[0], {dim}, keep); },
          [&](const auto& of) { return at::amax(of[0], {dim}, keep); });
      expect_equal_to_libtorch(
          kPlacements,
          [&](const auto& of) { return amin(of[0], {dim}, keep); },
          [&](const auto& of) { return at::amin(of[0], {dim}, keep); });
    }
  }
  expect_equal_to_libtorch(
      kPlacements,
      [](const auto& of) {
        return amax(of[0], {1, 0});
      },
      [](const auto& of) {
        return at::amax(of[0], {1, 0});
      });
  expect_equal_to_libtorch(
      {{"x3", {"i64[7@x,2]"}}},
      [](const auto& of) { return amin(of[0], {0}); },
      [](const auto& of) { return at::amin(of[0], {0}); });
}

TEST(Extremes, ShareTheGradientAmongEqualElementsOfAllRanks) {
  on_mesh("x3", [](Program& program) {
    const at::Tensor whole = at::tensor({1.0F, 5.0F, 5.0F, 2.0F, 5.0F, 5.0F, 0.0F});
    const ShardedTensor piece = place(program, whole, PartitionSpec({{"x"}}));
    const ShardedTensor x(program, piece.type(), piece.local().clone().set_requires_grad(true));
    amax(x, {0}).local().backward();
    EXPECT_TRUE(at::equal(collect(x.gradient()),
                          at::tensor({0.0F, 0.25F, 0.25F, 0.0F, 0.25F, 0.25F, 0.0F})));
  });
}

TEST(Extremes, CommunicateInTheBackwardWhereTheDimIsSplit) {
  const Op op = [](const auto& of) { return amax(of[0], {0}); };
  EXPECT_EQ(ledger_of({"x2", {"8@x,2"}}, op), "forward all_reduce x 16; backward all_reduce x 32");
  EXPECT_EQ(ledger_of({"x2", {"8,2@x"}}, op), "");
  EXPECT_EQ(ledger_of({"x2", {"i64[8@x,2]"}}, op), "forward all_reduce x 32");
}

TEST(Extremes, KeepCandidatesUnreducedInRowF10) {
  on_mesh("x2", [](Program& program) {
    const ShardedTensor range =
        iota(program, {DType::kFloat32, {4, 2}, PartitionSpec({{"x"}})}, /*dim=*/0);
    const ShardedTensor other =
        iota(program, {DType::kFloat32, {4, 2}, PartitionSpec({{"x"}})}, /*dim=*/1);
    const ShardedTensor eight = range * 2.0 + other;
    const PartitionSpec out = PartitionSpec().with_unreduced({"x"}, Reduction::kMax);
    const ShardedTensor terms = amax(eight, {0}, false, out);
    EXPECT_EQ(terms.type().spec, out);
    EXPECT_TRUE(at::equal(
        terms.local(), program.rank() == 0 ? at::tensor({2.0F, 3.0F}) : at::tensor({6.0F, 7.0F})));
    const ShardedTensor joined = reshard(terms, PartitionSpec(), "test");
    EXPECT_TRUE(at::equal(joined.local(), at::tensor({6.0F, 7.0F})));
    const ShardedTensor passed =
        amax(terms, {0}, false, PartitionSpec().with_unreduced({"x"}, Reduction::kMax));
    EXPECT_EQ(passed.local().item<float>(), program.rank() == 0 ? 3 : 7);
  });
}

TEST(Extremes, AreNotKeptAsTermsOfASumInRowF10) {
  const Op as_sum = [](const auto& of) {
    return amax(stop_gradient(of[0]), {0}, false, PartitionSpec().with_unreduced({"x"}));
  };
  EXPECT_THAT(refusal_of({"x2", {"4@x,2"}}, as_sum),
              HasSubstr("holds terms of a sum, but those of"));
  const Op summed = [](const auto& of) {
    const PartitionSpec out = PartitionSpec().with_unreduced({"x"}, Reduction::kMax);
    return amax(stop_gradient(of[0]), {0}, false, out) + 1.0;
  };
  EXPECT_THAT(refusal_of({"x2", {"4@x,2"}}, summed), HasSubstr("max"));
}

TEST(Extremes, PassNoGradientThroughUnreducedCandidates) {
  const Op op = [](const auto& of) {
    return amax(of[0], {0}, false, PartitionSpec().with_unreduced({"x"}, Reduction::kMax));
  };
  EXPECT_THAT(refusal_of({"x2", {"4@x,2"}}, op),
              HasSubstr("needs one; stop_gradient() it, or let the op join them"));
}

TEST(Extremes, ScatterAsOutSays) {
  const Op op = [](const auto& of) { return amax(of[0], {0}, false, PartitionSpec({{"x"}})); };
  EXPECT_EQ(type_of({"x2", {"4@x,3"}}, op), "f32[3@x]");
  expect_equal_to_libtorch({{"x2", {"4@x,3"}}, {"x4", {"9@x,3"}}}, op, [](const auto& of) {
    return at::amax(of[0], {0});
  });
}

TEST(Extremes, GiveNaNWhereThereIsOne) {
  on_mesh("x2", [](Program& program) {
    const at::Tensor whole = at::tensor({1.0F, NAN, 5.0F, 2.0F});
    const ShardedTensor x = place(program, whole, PartitionSpec({{"x"}}));
    EXPECT_TRUE(std::isnan(amax(x, {0}).local().item<float>()));
    EXPECT_EQ(argmax(x, 0).local().item<int64_t>(), 1);
    EXPECT_EQ(argmin(x, 0).local().item<int64_t>(), 1);
  });
}

TEST(Extremes, RefuseUnfinishedSumsAndDimsWithoutElements) {
  EXPECT_THAT(refusal_of({"x2", {"4{U:x}"}}, [](const auto& of) { return amax(of[0], {0}); }),
              HasSubstr("amax: operand 0 f32[4]{U:x} holds terms of a sum"));
  EXPECT_EQ(refusal_of({"x2", {"0,4"}}, [](const auto& of) { return amin(of[0], {0}); }),
            "amin: dim 0 of operand 0 f32[0,4] has no elements");
}

TEST(IndexOfExtreme, EqualsLibtorchsOnEveryMeshInRowF7) {
  for (const int64_t dim : {0, -1}) {
    for (const bool keep : {false, true}) {
      expect_equal_to_libtorch(
          kPlacements,
          [&](const auto& of) { return argmax(map(rounded, of[0]), dim, keep); },
          [&](const auto& of) { return at::argmax(rounded(of[0]), dim, keep); });
      expect_equal_to_libtorch(
          kPlacements,
          [&](const auto& of) { return argmin(map(rounded, of[0]), dim, keep); },
          [&](const auto& of) { return at::argmin(rounded(of[0]), dim, keep); });
    }
  }
}

TEST(IndexOfExtreme, HasTheTypesOfRowF7) {
  EXPECT_EQ(type_of({"x2,y2", {"8@x,2@y"}}, [](const auto& of) { return argmax(of[0], 0); }),
            "i64[2@y]");
  EXPECT_EQ(type_of({"x2,y2", {"8@x,2@y"}}, [](const auto& of) { return argmin(of[0], 1); }),
            "i64[8@x]");
  EXPECT_EQ(type_of({"x2", {"8,2{R:x}"}}, [](const auto& of) { return argmin(of[0], 1); }),
            "i64[8]");
}

TEST(IndexOfExtreme, JoinsValuesThenIndices) {
  const Op op = [](const auto& of) { return argmax(of[0], 0); };
  EXPECT_EQ(ledger_of({"x2", {"8@x,2"}}, op), "forward all_reduce x 16; forward all_reduce x 32");
  EXPECT_EQ(ledger_of({"x2", {"8,2@x"}}, op), "");
}

TEST(IndexOfExtreme, RefusesADimThatIsNotThere) {
  EXPECT_EQ(refusal_of({"x2", {"8@x"}}, [](const auto& of) { return argmax(of[0], 1); }),
            "argmax: dims (1) are not different dims of operand 0 f32[8@x]");
}

}  // namespace
}  // namespace brigade::tensor
