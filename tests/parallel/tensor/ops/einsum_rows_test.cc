// SPDX-License-Identifier: Apache-2.0
// The conformance rows of products as values: forward, backward, types of results and gradients.
#include <array>
#include <optional>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "parallel/tensor/casts.h"
#include "parallel/tensor/ops/einsum.h"
#include "tests/parallel/sharding/spelled.h"
#include "tests/parallel/tensor/row_check.h"

namespace brigade::tensor {
namespace {

using sharding::PartitionSpec;
using sharding::spec;

Op product_of(const std::string& equation, std::optional<PartitionSpec> out = {}) {
  return [equation, out](const std::vector<ShardedTensor>& x) {
    return einsum(equation, x[0], x[1], out);
  };
}

void expect_product(const std::string& equation,
                    const std::string& a,
                    const std::string& b,
                    const std::string& result,
                    std::optional<PartitionSpec> out = {},
                    const std::vector<std::string>& meshes = kMeshes) {
  expect_row(meshes,
             {a, b},
             result,
             product_of(equation, std::move(out)),
             [&](const std::vector<at::Tensor>& x) {
               return at::einsum(equation, {x[0], x[1]});
             });
}

/// (8,2) by (2,8) as the row says, and (7,5) by (5,9), which no mesh divides. `a` and `b` without
/// sizes: "@x,@y". Gradients are checked to have the operands' types, as row D14 asks.
void expect_dot(const std::string& a,
                const std::string& b,
                const std::string& result,
                bool with_out = false) {
  const auto sized =
      [](const std::string& dims, const std::string& rows, const std::string& columns) {
        const size_t comma = dims.find(',');
        return rows + dims.substr(0, comma) + "," + columns + dims.substr(comma + 1);
      };
  for (const auto& [m, k, n] : {std::array<std::string, 3>{"8", "2", "8"}, {"7", "5", "9"}}) {
    const std::string type = sized(result, m, n);
    expect_product("mk,kn->mn",
                   sized(a, m, k),
                   sized(b, k, n),
                   type,
                   with_out ? std::optional<PartitionSpec>(spec(type)) : std::nullopt);
  }
}

void expect_no_dot(const std::string& a,
                   const std::string& b,
                   const std::string& part,
                   std::optional<PartitionSpec> out = {},
                   const std::string& mesh = "x2,y2") {
  expect_refused(mesh, {a, b}, product_of("mk,kn->mn", std::move(out)), part);
}

TEST(EinsumRows, D1_and_D14_free_dims_stay_split_over_two_axes) {
  expect_dot("@x,", ",@y", "@x,@y");
}

TEST(EinsumRows, D2_and_D14_a_free_dim_stays_split_over_one_axis) {
  expect_dot("@x,", ",", "@x,");
}

TEST(EinsumRows, D3_and_D14_the_left_side_is_gathered_where_it_alone_splits_the_contraction) {
  expect_dot("@x,@y", ",", "@x,");
}

TEST(EinsumRows, D4_and_D14_the_right_side_is_gathered_where_it_alone_splits_the_contraction) {
  expect_dot("@x,", "@x,", "@x,");
}

TEST(EinsumRows, D5_and_D14_the_left_side_is_gathered_beside_a_split_free_dim) {
  expect_dot(",@y", ",@y", ",@y");
}

TEST(EinsumRows, D7_contracting_dims_split_differently_are_refused) {
  expect_no_dot("8@x,2@y", "2@x,8@y", "contracting dims need consistent sharding");
}

TEST(EinsumRows, D8_both_contracting_dims_split_ask_for_out) {
  expect_no_dot("8@x,2@y", "2@y,8", "say with out=");
}

TEST(EinsumRows, D9_both_contracting_dims_split_ask_for_out_without_a_split_batch) {
  expect_no_dot("8,2@y", "2@y,8", "say with out=");
}

TEST(EinsumRows, D10_out_finishes_keeps_or_scatters_the_sum) {
  expect_dot("@x,@y", "@y,", "@x,", true);
  expect_dot("@x,@y", "@y,", "@x,@y", true);
  expect_product("mk,kn->mn", "7@x,5@y", "5@y,9", "7@x,9{U:y}", spec("7@x,9{U:y}"));
}

TEST(EinsumRows, D11_out_says_which_of_two_free_dims_keeps_an_axis) {
  const std::vector<std::string> meshes = {"x2", "x3", "x4", "x8"};
  expect_product("mk,kn->mn", "8@x,2", "2,8@x", "8@x,8", spec("8@x,8"), meshes);
  expect_product("mk,kn->mn", "7@x,5", "5,9@x", "7,9@x", spec("7,9@x"), meshes);
  expect_no_dot("8@x,2", "2,8@x", "illegally sharded", {}, "x4");
}

TEST(EinsumRows, D12_batch_dims_split_differently_are_refused) {
  expect_refused("x2,y2,z1",
                 {"8@x,4@y,2@z", "8@y,2@z,4@x"},
                 product_of("bmk,bkn->bmn"),
                 "batch dims need consistent sharding");
}

TEST(EinsumRows, I1_terms_are_those_of_each_ranks_part_of_the_contraction) {
  on_mesh({{"x", 2}}, [](Program& program) {
    const at::Tensor x = at::arange(4, at::kFloat).view({2, 2});
    const ShardedTensor terms = einsum("mk,kn->mn",
                                       place(program, x, PartitionSpec({{}, {"x"}})),
                                       place(program, x, PartitionSpec({{"x"}})),
                                       PartitionSpec().with_unreduced({"x"}));
    const at::Tensor wanted = at::tensor({0, 0, 0, 2, 2, 3, 6, 9}, at::kFloat).view({2, 2, 2});
    EXPECT_TRUE(at::equal(terms.local(), wanted[program.rank()])) << terms.local();
    const at::Tensor sum = at::tensor({2, 3, 6, 11}, at::kFloat).view({2, 2});
    EXPECT_TRUE(at::equal(reshard(terms, PartitionSpec(), "test").local(), sum));
  });
}

TEST(EinsumRows, I8_unreduced_uses_without_terms_are_refused) {
  expect_no_dot("8,2@y", "2@y,8", "over which nothing is contracted", spec("8,8{U:z}"), "x2,y2,z2");
  expect_no_dot("8,2@x", "2@y,8", "consistent sharding", spec("8,8{U:x}"));
  expect_no_dot("8,2{U:x}", "2,8", "is unreduced over x");
}

TEST(EinsumRows, L1_a_sum_over_one_axis_is_all_reduced) {
  expect_product("mk,kn->mn", "8@x,8@y", "8@y,8", "8@x,8", spec("8@x,8"), {"x4,y2", "x2,y4"});
}

TEST(EinsumRows, L2_a_sum_over_one_axis_is_scattered) {
  expect_product("mk,kn->mn", "8@x,8@y", "8@y,8", "8@x,8@y", spec("8@x,8@y"), {"x4,y2", "x3,y2"});
}

TEST(EinsumRows, L3_the_left_side_is_gathered_for_a_split_result) {
  expect_product("mk,kn->mn", "8@x,8@y", "8,8@y", "8@x,8@y", spec("8@x,8@y"), {"x4,y2", "x3,y2"});
}

TEST(EinsumRows, SumsAnIndexOfOneOperandAlone) {
  expect_product("ij,k->k", "5@x,3", "4", "4", spec("4"));
  expect_product("ij,jk->k", "5@x,3@y", "3@y,4", "4{U:x}", spec("4{U:x}"));
  expect_product("ij,kl->", "5@x,3", "2@y,4", "", spec(""));
}

TEST(EinsumRows, TakesEmptyDims) {
  expect_product("mk,kn->mn", "0@x,3", "3,4@y", "0@x,4@y");
  expect_product("mk,kn->mn", "5@x,0", "0,4@y", "5@x,4@y");
  expect_product("mk,kn->mn", "5@x,1@y", "1@y,4", "5@x,4", spec("5@x,4"));
}

TEST(Matmul, MultipliesTheLastDims) {
  const auto multiply = [](const std::vector<ShardedTensor>& x) { return matmul(x[0], x[1]); };
  const auto whole = [](const std::vector<at::Tensor>& x) { return at::matmul(x[0], x[1]); };
  expect_row(kMeshes, {"5@x,3", "3,4@y"}, "5@x,4@y", multiply, whole);
  expect_row(kMeshes, {"6,5@x,3", "3,4@y"}, "6,5@x,4@y", multiply, whole);
  expect_row(kMeshes, {"6@x,5,3", "6@x,3,4@y"}, "6@x,5,4@y", multiply, whole);
  expect_row(
      kMeshes,
      {"5@x,3@y", "3@y,4"},
      "5@x,4",
      [](const std::vector<ShardedTensor>& x) { return matmul(x[0], x[1], spec("5@x,4")); },
      whole);
  expect_refused("x2", {"5,3", "6,3,4"}, multiply, "matmul: expected");
}

}  // namespace
}  // namespace brigade::tensor
