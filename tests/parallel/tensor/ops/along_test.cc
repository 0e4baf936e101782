// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/along.h"

#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "parallel/tensor/ops/shape.h"
#include "tests/parallel/tensor/row_check.h"

namespace brigade::tensor {
namespace {

using Tensors = std::vector<ShardedTensor>;
using Wholes = std::vector<at::Tensor>;

TEST(Along, H9_a_split_dim_is_refused_by_each_op) {
  const char* const part =
      "dim 0 of f32[8@x,4] is split over x (2 parts); reshard it first, or work on the parts in "
      "shard_map";
  const std::vector<Op> ops = {
      [](const Tensors& x) { return cumsum(x[0], 0); },
      [](const Tensors& x) { return sort(x[0], 0); },
      [](const Tensors& x) { return argsort(x[0], 0); },
      [](const Tensors& x) { return roll(x[0], 1, 0); },
      [](const Tensors& x) { return flip(x[0], 0); },
      [](const Tensors& x) {
        return tile(x[0], {2, 1});
      },
      [](const Tensors& x) { return unstack(x[0], 0)[0]; },
  };
  for (const Op& op : ops) {
    expect_refused("x2", {"8@x,4"}, op, part);
  }
}

TEST(Along, SumsAlongAWholeDim) {
  for (const char* from : {"5@x,4", "5@y,4{U:x}", "4,4@(x,y)", "5,4{R:x}"}) {
    const int64_t dim = from[0] == '4' ? 0 : 1;
    expect_row(
        kMeshes,
        {from},
        from,
        [&](const Tensors& x) { return cumsum(x[0], dim); },
        [&](const Wholes& x) { return x[0].cumsum(dim); });
  }
}

TEST(Along, SortsAWholeDim) {
  expect_row(
      kMeshes,
      {"5@x,7"},
      "5@x,7",
      [](const Tensors& x) { return sort(x[0], 1); },
      [](const Wholes& x) { return std::get<0>(at::sort(x[0], /*stable=*/true, 1, false)); });
  expect_row(
      kMeshes,
      {"5@x,7"},
      "i64[5@x,7]",
      [](const Tensors& x) { return argsort(x[0], 1); },
      [](const Wholes& x) { return std::get<1>(at::sort(x[0], /*stable=*/true, 1, false)); });
  expect_row(
      kMeshes,
      {"5@x,7"},
      "i64[5@x,7]",
      [](const Tensors& x) { return argsort(x[0], 1, Order::kDescending); },
      [](const Wholes& x) { return std::get<1>(at::sort(x[0], /*stable=*/true, 1, true)); });
  expect_refused(
      "x2", {"3{U:x}"}, [](const Tensors& x) { return sort(x[0], 0); }, "is unreduced over x");
}

TEST(Along, RollsAWholeDim) {
  for (const int64_t shift : {0, 2, -3, 9}) {
    expect_row(
        kMeshes,
        {"5@x,4{U:y}"},
        "5@x,4{U:y}",
        [&](const Tensors& x) { return roll(x[0], shift, 1); },
        [&](const Wholes& x) { return x[0].roll(shift, 1); });
  }
}

TEST(Along, FlipsAWholeDim) {
  expect_row(
      kMeshes,
      {"5@x,4{U:y}"},
      "5@x,4{U:y}",
      [](const Tensors& x) { return flip(x[0], 1); },
      [](const Wholes& x) { return x[0].flip(1); });
}

TEST(Along, TilesWholeDims) {
  expect_row(
      kMeshes,
      {"5@x,3{R:y}"},
      "5@x,6{R:y}",
      [](const Tensors& x) {
        return tile(x[0], {1, 2});
      },
      [](const Wholes& x) {
        return x[0].repeat({1, 2});
      });
}

TEST(Along, UnstacksAWholeDim) {
  expect_row(
      kMeshes,
      {"3,5@x"},
      "5@x,3",
      [](const Tensors& x) {
        const Tensors rows = unstack(x[0], 0);
        return stack({rows[2], rows[0], rows[1]}, 1);
      },
      [](const Wholes& x) {
        return at::stack({x[0][2], x[0][0], x[0][1]}, 1);
      });
}

}  // namespace
}  // namespace brigade::tensor
