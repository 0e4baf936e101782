// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/segment_sum.h"

#include <optional>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "parallel/tensor/casts.h"
#include "tests/parallel/sharding/spelled.h"
#include "tests/parallel/tensor/row_check.h"

namespace brigade::tensor {
namespace {

using sharding::PartitionSpec;
using sharding::spec;

void expect_sum(const std::string& values,
                const std::string& ids,
                const std::string& result,
                std::optional<PartitionSpec> out = {}) {
  const int64_t segments = type_of(result).global[0];
  expect_row(
      kMeshes,
      {values, {ids, segments}},
      result,
      [&](const std::vector<ShardedTensor>& x) { return segment_sum(x[0], x[1], segments, out); },
      [&](const std::vector<at::Tensor>& x) {
        std::vector<int64_t> sizes = x[0].sizes().vec();
        sizes[0] = segments;
        return at::zeros(sizes).index_add(0, x[1], x[0]);
      });
}

TEST(SegmentSum, I6_values_split_as_their_ids_leave_a_term_per_rank) {
  on_mesh({{"x", 4}}, [](Program& program) {
    const PartitionSpec split({{"x"}});
    const ShardedTensor values = place(program, at::arange(8, at::kFloat), split);
    const ShardedTensor ids =
        place(program, at::tensor({0, 0, 1, 1, 1, 2, 2, 3}, at::kLong), split);
    const ShardedTensor sums = segment_sum(values, ids, 4, PartitionSpec().with_unreduced({"x"}));
    const at::Tensor terms =
        at::tensor({1, 0, 0, 0, 0, 5, 0, 0, 0, 4, 5, 0, 0, 0, 6, 7}, at::kFloat);
    EXPECT_TRUE(at::equal(sums.local(), terms.view({4, 4})[program.rank()])) << sums.local();
    EXPECT_TRUE(at::equal(collect(sums), at::tensor({1, 9, 11, 7}, at::kFloat)));
  });
}

TEST(SegmentSum, JoinsTermsAsOutSays) {
  expect_sum("9@x,3", "i64[9@x]", "5,3", spec("5,3"));
  expect_sum("9@x,3", "i64[9@x]", "5@x,3", spec("5@x,3"));
  expect_sum("9@(x,y)", "i64[9@(x,y)]", "5@y{U:x}", spec("5@y{U:x}"));
}

TEST(SegmentSum, CutsTheOperandThatIsWhole) {
  expect_sum("9@x,3", "i64[9]", "5,3{U:x}", spec("5,3{U:x}"));
  expect_sum("9,3", "i64[9@x]", "5,3", spec("5,3"));
}

TEST(SegmentSum, CarriesSplitFeatures) {
  expect_sum("9,3@y{R:x}", "i64[9]", "5,3@y{R:x}");
}

TEST(SegmentSum, KeepsEmptyShardsInStep) {
  expect_sum("1@(x,y),3", "i64[1@(x,y)]", "4,3", spec("4,3"));
  expect_sum("0@x,3", "i64[0@x]", "4,3", spec("4,3"));
}

TEST(SegmentSum, AsksForOutAndRefusesIdsThatAreNoSegments) {
  expect_refused(
      "x2",
      {"8@x", "i64[8@x]"},
      [](const std::vector<ShardedTensor>& x) { return segment_sum(x[0], x[1], 5); },
      "say with out=");
  on_mesh({{"x", 2}}, [](Program& program) {
    const ShardedTensor values = place(program, numbers({1}, 0), {});
    const ShardedTensor ids = place(program, at::full({1}, 3, at::kLong), {});
    EXPECT_THROW((void)segment_sum(values, ids, 3), Exception);
  });
}

TEST(SegmentSum, SumsBf16InFloat) {
  expect_bf16_rounds_float(
      "x1", {{numbers({60, 4}, 0.2), {}}, {at::arange(60, at::kLong) % 2, {}}}, [](const auto& of) {
        return segment_sum(of[0], of[1], 2, PartitionSpec());
      });
}

}  // namespace
}  // namespace brigade::tensor
