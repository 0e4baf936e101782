// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/shape.h"

#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/parallel/sharding/spelled.h"
#include "tests/parallel/tensor/row_check.h"

namespace brigade::tensor {
namespace {

using sharding::PartitionSpec;
using sharding::Shape;
using sharding::spec;

using Tensors = std::vector<ShardedTensor>;
using Wholes = std::vector<at::Tensor>;

void expect_reshape(const std::vector<std::string>& meshes,
                    const std::string& from,
                    const Shape& shape,
                    const std::string& result,
                    const std::optional<PartitionSpec>& out = {}) {
  expect_row(
      meshes,
      {from},
      result,
      [&](const Tensors& x) { return reshape(x[0], shape, out); },
      [&](const Wholes& x) { return x[0].reshape(shape); });
}

void expect_no_reshape(const std::string& mesh,
                       const std::string& from,
                       const Shape& shape,
                       const std::string& part) {
  expect_refused(
      mesh, {from}, [&](const Tensors& x) { return reshape(x[0], shape); }, part);
}

TEST(Reshape, G1_a_split_of_a_whole_dim_leaves_the_others) {
  expect_reshape(kMeshes, "4@x,6,8@y", {4, 2, 3, 8}, "4@x,2,3,8@y");
}

TEST(Reshape, G2_a_split_gives_the_axis_to_the_leading_new_dim) {
  expect_reshape({"x2,y1", "x2,y2", "x3,y2", "x4,y2"}, "4@x,6@y,8", {4, 2, 3, 8}, "4@x,2@y,3,8");
  expect_reshape({"x2,y4"}, "5@x,12@y,2", {5, 4, 3, 2}, "5@x,4@y,3,2");
}

TEST(Reshape, G3_a_split_that_does_not_divide_is_refused) {
  expect_no_reshape("x2,y2", "4@x,6@y,8", {4, 3, 2, 8}, "out=");
  expect_reshape(kMeshes, "4@x,6@y,8", {4, 3, 2, 8}, "4@x,3,2@y,8", spec("4@x,3,2@y,8"));
  expect_reshape(kMeshes, "4@x,6@y,8", {4, 3, 2, 8}, "4@x,3,2,8{R:y}", spec("4@x,3,2,8{R:y}"));
  expect_reshape(kMeshes, "4@x,6@y,8", {4, 3, 2, 8}, "4@x,3,2,8{U:y}", spec("4@x,3,2,8{U:y}"));
}

TEST(Reshape, G4_a_split_gives_both_axes_to_the_leading_new_dim) {
  expect_reshape({"x2,y1", "x2,y2"}, "4,12@(x,y),8", {4, 4, 3, 8}, "4,4@(x,y),3,8");
  expect_reshape({"x2,y4", "x3,y2"}, "48@(x,y)", {24, 2}, "24@(x,y),2");
}

TEST(Reshape, G5_a_split_leaves_a_dim_of_size_one_behind_it) {
  expect_reshape({"x2,y1", "x2,y2", "x2,y4"}, "10@x,1", {2, 5, 1}, "2@x,5,1");
}

TEST(Reshape, G7_a_split_fills_the_leading_new_dim_first) {
  expect_reshape({"x2,y2", "x2,y4"}, "8@(x,y)", {2, 4}, "2@x,4@y");
  expect_reshape({"x2,y1"}, "8@(x,y)", {2, 4}, "2@(x,y),4");
  expect_reshape({"x3,y2"}, "24@(x,y)", {3, 8}, "3@x,8@y");
}

TEST(Reshape, G8_a_split_gives_all_axes_to_a_leading_new_dim_with_room) {
  expect_reshape({"x2,y1", "x2,y2"}, "8@(x,y)", {4, 2}, "4@(x,y),2");
}

TEST(Reshape, G9_a_split_hands_the_rest_of_the_axes_on) {
  expect_reshape({"x2,y2,z2"}, "8@(x,y,z)", {2, 4}, "2@x,4@(y,z)");
}

TEST(Reshape, G11_a_merge_of_whole_dims_leaves_the_others) {
  expect_reshape(kMeshes, "4@x,2,3,8@y", {4, 6, 8}, "4@x,6,8@y");
}

TEST(Reshape, G13_a_merge_of_leading_whole_dims_leaves_the_others) {
  expect_reshape(kMeshes, "2,2,6@y,8@x", {4, 6, 8}, "4,6@y,8@x");
}

TEST(Reshape, G14_a_merge_joins_the_axes_of_a_fully_split_dim_and_the_next) {
  expect_reshape({"x2,y1", "x2,y2", "x2,y4"}, "2@x,4@y", {8}, "8@(x,y)");
  expect_reshape({"x3,y2"}, "3@x,4@y", {12}, "12@(x,y)");
}

TEST(Reshape, G15_a_merge_across_a_whole_dim_is_refused) {
  expect_no_reshape("x2,y2", "2@x,2,2@y", {8}, "single elements");
  expect_reshape(kMeshes, "2@x,2,2@y", {8}, "8@(x,y)", spec("8@(x,y)"));
}

TEST(Reshape, G16_a_merge_of_a_whole_dim_before_a_split_one_is_refused) {
  expect_no_reshape("x2,y2", "4,2,6@y,8@x", {4, 12, 8}, "dim 1 of size 2 is in 1 parts");
  expect_reshape(kMeshes, "4,2,6@y,8@x", {4, 12, 8}, "4,12,8@x", spec("4,12,8@x"));
}

TEST(Reshape, G17_two_changes_are_refused) {
  for (const Shape& shape : {Shape{4, 4, 2, 6}, Shape{4, 2, 3, 4, 2}}) {
    expect_no_reshape("x2,y2", "4@x,6,8", shape, "this reshape is not supported");
    const PartitionSpec out({{"x"}});
    expect_reshape(kMeshes,
                   "4@x,6,8",
                   shape,
                   sharding::text_of({DType::kFloat32, shape, out}, sharding::mesh_of("x2")),
                   out);
  }
  expect_no_reshape("x2,y2", "4@x,8,9", {4, 2, 2, 3, 3, 2}, "reshard");
}

TEST(Reshape, G18_dims_of_size_one_come_and_go_beside_a_split_dim) {
  expect_reshape(kMeshes, "16@x,1", {1, 16, 1}, "1,16@x,1");
  expect_reshape(kMeshes, "1,17@(x,y),1", {17}, "17@(x,y)");
}

TEST(Reshape, KeepsUnreducedAndReducedSets) {
  expect_reshape(kMeshes, "6{U:x, R:y}", {2, 3}, "2,3{U:x, R:y}");
}

TEST(Transpose, G20_axes_are_permuted_with_their_dims) {
  const auto expect = [](const std::vector<std::string>& meshes,
                         const std::string& from,
                         const std::vector<int64_t>& order,
                         const std::string& result) {
    expect_row(
        meshes,
        {from},
        result,
        [&](const Tensors& x) { return transpose(x[0], order); },
        [&](const Wholes& x) { return x[0].permute(order); });
  };
  expect({"x2,y2,z2", "x2,y1,z1"}, "4@x,2@y,2@z", {1, 2, 0}, "2@y,2@z,4@x");
  expect(kMeshes, "7@y,5@x", {1, 0}, "5@x,7@y");
  expect(kMeshes, "3,4{U:x, R:y}", {1, 0}, "4,3{U:x, R:y}");
}

TEST(ExpandDims, E5_a_new_dim_is_whole) {
  for (const int64_t dim : {0, 1, 2}) {
    expect_row(
        kMeshes,
        {"8@x,2@y"},
        std::vector<std::string>{"1,8@x,2@y", "8@x,1,2@y", "8@x,2@y,1"}[static_cast<size_t>(dim)],
        [&](const Tensors& x) { return expand_dims(x[0], dim); },
        [&](const Wholes& x) { return x[0].unsqueeze(dim); });
  }
}

TEST(Squeeze, DropsADim) {
  expect_row(
      kMeshes,
      {"5@x,1,7@y"},
      "5@x,7@y",
      [](const Tensors& x) { return squeeze(x[0], 1); },
      [](const Wholes& x) { return x[0].squeeze(1); });
  expect_refused(
      "x2", {"1@x,4"}, [](const Tensors& x) { return squeeze(x[0], 0); }, "is split over x");
}

void expect_broadcast(const std::string& from,
                      const Shape& shape,
                      const std::string& result,
                      const std::optional<PartitionSpec>& out = {}) {
  expect_row(
      kMeshes,
      {from},
      result,
      [&](const Tensors& x) { return broadcast_to(x[0], shape, out); },
      [&](const Wholes& x) { return x[0].broadcast_to(shape); });
}

TEST(BroadcastTo, E5_new_dims_are_whole) {
  expect_broadcast("8@x,2@y", {3, 8, 2}, "3,8@x,2@y");
  expect_broadcast("5@x,1", {5, 4}, "5@x,4");
}

TEST(BroadcastTo, E6_a_reduced_operand_gives_a_plain_result_on_a_new_dim_split_over_its_axis) {
  expect_broadcast("8{R:x}", {2, 8}, "2@x,8", spec("2@x,8"));
}

TEST(BroadcastTo, MarksReplicatedCopiesUnderASplitNewDim) {
  expect_broadcast("8", {5, 8}, "5@(x,y),8", spec("5@(x,y),8"));
  expect_broadcast("8@x", {5, 8}, "5@y,8@x", spec("5@y,8@x"));
}

TEST(BroadcastTo, ScattersAnUnfinishedSum) {
  expect_broadcast("8{U:x}", {5, 8}, "5@x,8", spec("5@x,8"));
}

TEST(BroadcastTo, RefusesToRepeatASplitDim) {
  expect_refused(
      "x2",
      {"1@x,3"},
      [](const Tensors& x) {
        return broadcast_to(x[0], {4, 3});
      },
      "cannot be repeated");
}

TEST(Concatenate, H4_a_dim_is_split_only_by_an_axis_larger_than_one) {
  const auto join = [](const Tensors& x) { return concatenate(x, 1); };
  expect_row({"x2,y1"}, {"4@x,4@y", "4@x,1@y"}, "4@x,5@y", join, [](const Wholes& x) {
    return at::cat(x, 1);
  });
  expect_refused("x2,y1", {"4@x,4@y", "4@x,1"}, join, "all operands should have the same sharding");
}

TEST(Concatenate, JoinsWholeDims) {
  const auto join = [](const Tensors& x) { return concatenate(x, 1); };
  const auto cat = [](const Wholes& x) { return at::cat(x, 1); };
  expect_row(kMeshes, {"5@x,3{R:y}", "5@x,2{R:y}", "5@x,0{R:y}"}, "5@x,5{R:y}", join, cat);
  expect_row(kMeshes, {"5,3{U:x}", "5,2{U:x}"}, "5,5{U:x}", join, cat);
  expect_refused(
      "x2", {"4,3@x", "4,3@x"}, join, "reshard it first, or work on the parts in shard_map");
  expect_refused("x2", {"4@x,3", "4,3@x"}, join, "operand 1 is f32[4,3@x]; reshard one of them");
}

TEST(Stack, AddsAWholeDim) {
  expect_row(
      kMeshes,
      {"5@x,3@y", "5@x,3@y"},
      "5@x,2,3@y",
      [](const Tensors& x) { return stack(x, 1); },
      [](const Wholes& x) { return at::stack(x, 1); });
}

TEST(Slice, H1_whole_dims_alone_are_sliced) {
  const auto cut = [](const Tensors& x) { return slice(x[0], 1, 0, 3); };
  const auto narrow = [](const Wholes& x) { return x[0].narrow(1, 0, 3); };
  expect_row(kMeshes, {"4@x,4"}, "4@x,3", cut, narrow);
  expect_row(kMeshes, {"5@y,4{U:x}"}, "5@y,3{U:x}", cut, narrow);
  expect_refused("x2,y2", {"4@x,4@y"}, cut, "dim 1 of f32[4@x,4@y] is split over y (2 parts)");
  expect_refused("x2,y2", {"4,4@(x,y)"}, cut, "is split over x, y (4 parts)");
}

TEST(Split, GivesConsecutiveSlices) {
  const auto join = [](const Tensors& x) {
    const Tensors parts = split(x[0], {3, 0, 4}, 1);
    return concatenate({parts[2], parts[0], parts[1]}, 1);
  };
  expect_row(kMeshes, {"5@x,7"}, "5@x,7", join, [](const Wholes& x) {
    return at::cat({x[0].narrow(1, 3, 4), x[0].narrow(1, 0, 3)}, 1);
  });
  expect_refused(
      "x2", {"5@x,8"}, join, "split: sizes (3, 0, 4) do not add up to dim 1 of f32[5@x,8]");
  expect_refused("x2", {"5,7@x"}, join, "is split over x");
}

void expect_pad(const std::vector<std::string>& meshes,
                const std::string& from,
                const sharding::Padding& padding,
                const std::string& result,
                const std::function<at::Tensor(const at::Tensor&)>& whole,
                double value = 0) {
  expect_row(
      meshes,
      {from},
      result,
      [&](const Tensors& x) { return pad(x[0], 0, padding, value); },
      [&](const Wholes& x) { return whole(x[0]); });
}

TEST(Pad, H2_a_split_dim_is_padded_where_old_and_new_size_divide) {
  const std::vector<std::string> meshes = {"x2", "x2,y2", "x4", "x2,y4"};
  expect_pad(meshes, "8@x", {2, 2}, "12@x", [](const at::Tensor& x) {
    return at::constant_pad_nd(x, {2, 2});
  });
  expect_pad(
      {"x2", "x2,y2", "x3,y2"},
      "6@x,3",
      {0, 6, 0},
      "12@x,3",
      [](const at::Tensor& x) {
        return at::constant_pad_nd(x, {0, 0, 0, 6}, 2);
      },
      2);
  expect_refused(
      "x2",
      {"8@x"},
      [](const Tensors& x) {
        return pad(x[0], 0, {0, 3});
      },
      "must divide by 2");
  expect_pad({"x2", "x2,y2"}, "8@x", {0, 3, 1}, "18@x", [](const at::Tensor& x) {
    const at::Tensor spread = at::stack({x, at::zeros_like(x)}, 1).reshape({16}).narrow(0, 0, 15);
    return at::constant_pad_nd(spread, {0, 3});
  });
}

TEST(Pad, StaysLocalOnAWholeDim) {
  expect_pad(kMeshes, "3,5@x{R:y}", {1, 0, 2}, "8,5@x{R:y}", [](const at::Tensor& x) {
    const at::Tensor zeros = at::zeros_like(x);
    const at::Tensor spread = at::stack({x, zeros, zeros}, 1).reshape({9, 5}).narrow(0, 0, 7);
    return at::constant_pad_nd(spread, {0, 0, 1, 0});
  });
  expect_pad(kMeshes, "0,5@x", {1, 1, 3}, "2,5@x", [](const at::Tensor& x) {
    return at::constant_pad_nd(x, {0, 0, 1, 1});
  });
  expect_refused(
      "x2",
      {"3{U:x}"},
      [](const Tensors& x) {
        return pad(x[0], 0, {0, 1}, 1.0);
      },
      "would be added once per term");
}

}  // namespace
}  // namespace brigade::tensor
