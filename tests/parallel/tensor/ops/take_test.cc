// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/take.h"

#include <optional>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/parallel/sharding/spelled.h"
#include "tests/parallel/tensor/row_check.h"

namespace brigade::tensor {
namespace {

using sharding::PartitionSpec;
using sharding::spec;

using Tensors = std::vector<ShardedTensor>;
using Wholes = std::vector<at::Tensor>;

Op take_of(int64_t dim, std::optional<PartitionSpec> out = {}) {
  return [dim, out](const Tensors& x) { return take(x[0], x[1], dim, out); };
}

Op along_of(int64_t dim, std::optional<PartitionSpec> out = {}) {
  return [dim, out](const Tensors& x) { return take_along(x[0], x[1], dim, out); };
}

at::Tensor take_whole(const at::Tensor& x, const at::Tensor& indices, int64_t dim) {
  std::vector<int64_t> sizes = x.sizes().vec();
  sizes.erase(sizes.begin() + dim);
  sizes.insert(sizes.begin() + dim, indices.sizes().begin(), indices.sizes().end());
  return x.index_select(dim, indices.reshape({-1})).reshape(sizes);
}

void expect_take(const std::string& table,
                 const Given& indices,
                 int64_t dim,
                 const std::string& result,
                 std::optional<PartitionSpec> out = {}) {
  expect_row(kMeshes, {table, indices}, result, take_of(dim, std::move(out)), [&](const Wholes& x) {
    return take_whole(x[0], x[1], dim);
  });
}

void expect_along(const std::string& table,
                  const Given& indices,
                  int64_t dim,
                  const std::string& result,
                  std::optional<PartitionSpec> out = {}) {
  expect_row(
      kMeshes, {table, indices}, result, along_of(dim, std::move(out)), [&](const Wholes& x) {
        return at::gather(x[0], dim, x[1]);
      });
}

TEST(Take, H5_a_whole_dim_of_a_split_table_is_looked_up_in) {
  expect_take("64@x,16", {"i64[8,4]", 16}, 1, "64@x,8,4");
  expect_take("5@x,16", {"i64[8,4]", 16}, 1, "5@x,8,4");
  expect_along("64@x,16", {"i64[64@x,4]", 16}, 1, "64@x,4");
}

TEST(Take, H6_split_indices_ask_for_out) {
  expect_take("64,16@x", {"i64[8@x,4]", 64}, 0, "8@x,4,16", spec("8@x,4,16"));
  expect_refused("x2", {"4,2", "i64[2@x]"}, take_of(0), "say with out=");
  expect_take("4,2", {"i64[2@x]", 4}, 0, "2@x,2", spec("2@x,2"));
}

TEST(Take, H7_a_reduced_table_has_an_unreduced_gradient) {
  expect_take("64,16{R:x}", {"i64[4@x,6]", 64}, 0, "4@x,6,16", spec("4@x,6,16"));
}

TEST(Take, FindsEntriesOfASplitDim) {
  expect_take("9@x,4", {"i64[5]", 9}, 0, "5,4", spec("5,4"));
  expect_take("9@x,4", {"i64[5]", 9}, 0, "5@x,4", spec("5@x,4"));
  expect_take("9@(x,y),4", {"i64[5]", 9}, 0, "5,4{U:x,y}", spec("5,4{U:x,y}"));
  expect_take("4@y,3@x", {"i64[2,2]", 3}, 1, "4@y,2,2", spec("4@y,2,2"));
  expect_refused("x2", {"9@x,4", "i64[5]"}, take_of(0), "say with out=");
}

TEST(Take, KeepsEmptyShardsInStep) {
  expect_take("1@x,4", {"i64[5@y]", 1}, 0, "5@y,4", spec("5@y,4"));
  expect_take("3@(x,y),4", {"i64[0]", 3}, 0, "0,4", spec("0,4"));
}

TEST(Take, GathersADimSplitOverTheIndicesAxis) {
  expect_take("8@x,4", {"i64[6@x]", 8}, 0, "6@x,4", spec("6@x,4"));
  expect_take("8@(y,x),4", {"i64[6@x]", 8}, 0, "6@x,4", spec("6@x,4"));
}

TEST(Take, RefusesIndicesWithoutAnEntry) {
  on_mesh({{"x", 2}}, [](Program& program) {
    const ShardedTensor table = place(program, numbers({4, 2}, 0), PartitionSpec({{"x"}}));
    for (const int64_t index : {-1, 4}) {
      const ShardedTensor indices = place(program, at::full({1}, index, at::kLong), {});
      try {
        (void)take(table, indices, 0, PartitionSpec());
        ADD_FAILURE() << "no error for " << index;
      } catch (const Exception& exception) {
        EXPECT_EQ(exception.error().code, ErrorCode::kData);
        EXPECT_NE(exception.error().text.find("expected indices in [0, 4)"), std::string::npos)
            << exception.error().text;
      }
    }
  });
}

TEST(TakeAlong, PicksTargetsOverASplitDim) {
  expect_along("4@y,3,13@x", {"i64[4@y,3,1]", 13}, 2, "4@y,3,1", spec("4@y,3,1"));
  expect_along("4@y,3,13@x", {"i64[4@y,3,1]", 13}, 2, "4@y,3,1{U:x}", spec("4@y,3,1{U:x}"));
  expect_along("4,3,2@x", {"i64[4,3,5]", 2}, 2, "4,3@x,5", spec("4,3@x,5"));
  expect_refused("x2", {"4,9@x", "i64[4,1]"}, along_of(1), "say with out=");
}

TEST(TakeAlong, CutsWholeDimsAsTheOthers) {
  expect_along("5@x,9", {"i64[5,2]", 9}, 1, "5@x,2");
  expect_along("5,9", {"i64[5@x,2]", 9}, 1, "5@x,2");
  expect_along("5,9{R:y}", {"i64[5@x,2]", 9}, 1, "5@x,2{R:y}");
}

TEST(Take, SumsTheGradientsOfBf16EntriesInFloat) {
  const at::Tensor table = numbers({5, 6}, 0.2);
  const at::Tensor often = at::arange(40, at::kLong) % 3;
  expect_bf16_rounds_float(
      "x1", {{table, {}}, {often, {}}}, [](const auto& of) { return take(of[0], of[1], 0); });
  expect_bf16_rounds_float("x1",
                           {{table, {}}, {(at::arange(60, at::kLong) % 2).view({10, 6}), {}}},
                           [](const auto& of) { return take_along(of[0], of[1], 0); });
}

}  // namespace
}  // namespace brigade::tensor
