// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/loop.h"

#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "parallel/tensor/casts.h"
#include "parallel/tensor/ops/einsum.h"
#include "tests/parallel/tensor/row_check.h"

namespace brigade::tensor {
namespace {

using sharding::PartitionSpec;

using Tensors = std::vector<ShardedTensor>;
using Wholes = std::vector<at::Tensor>;

std::pair<ShardedTensor, ShardedTensor> multiply(const ShardedTensor& carry,
                                                 const ShardedTensor& element) {
  const ShardedTensor product = einsum("ij,ij->ij", carry, element);
  return {product, product};
}

TEST(LayerLoop, TurnsAsOftenAsAsked) {
  expect_row(
      kMeshes,
      {"5@x,4", "4,4"},
      "5@x,4",
      [](const Tensors& x) {
        return layer_loop(
            x[0], 3, [&](const ShardedTensor& h, int64_t) { return einsum("ij,jk->ik", h, x[1]); });
      },
      [](const Wholes& x) { return x[0].mm(x[1]).mm(x[1]).mm(x[1]); });
}

TEST(LayerLoop, CarriesSeveralTensors) {
  expect_row(
      kMeshes,
      {"5@x,4", "4,4{R:x}"},
      "5@x,4",
      [](const Tensors& x) {
        return layer_loop(Tensors{x[0], x[1]}, 2, [](const Tensors& carries, int64_t) {
          return Tensors{einsum("ij,jk->ik", carries[0], carries[1]),
                         einsum("ij,jk->ik", carries[1], carries[1])};
        })[0];
      },
      [](const Wholes& x) { return x[0].mm(x[1]).mm(x[1].mm(x[1])); });
  expect_refused(
      "x2",
      {"4,4"},
      [](const Tensors& x) {
        return layer_loop(x, 1, [](const Tensors&, int64_t) { return Tensors{}; })[0];
      },
      "layer_loop: turn 0 was given 1 carries and hands on 0");
}

TEST(LayerLoop, H8_a_carry_that_changes_its_type_is_refused) {
  expect_refused(
      "x2",
      {"4@x,4"},
      [](const Tensors& x) {
        return layer_loop(x[0], 2, [](const ShardedTensor& h, int64_t) {
          return reshard(h, PartitionSpec(), "a layer that forgets");
        });
      },
      "layer_loop: turn 0 was given a carry f32[4@x,4] and hands on f32[4,4]");
}

TEST(Scan, H8_a_split_dim_is_not_scanned_and_a_carry_keeps_its_type) {
  expect_refused(
      "x2",
      {"4,4", "8@x,4,4"},
      [](const Tensors& x) { return scan(x[0], x[1], multiply).first; },
      "scan: dim 0 of f32[8@x,4,4] is split over x");
  expect_refused(
      "x2",
      {"4@x,4", "8,4,4"},
      [](const Tensors& x) {
        return scan(x[0],
                    x[1],
                    [](const ShardedTensor& carry, const ShardedTensor& element) {
                      return std::pair(reshard(carry, PartitionSpec(), "test"), element);
                    })
            .first;
      },
      "scan: turn 0 was given a carry f32[4@x,4] and hands on f32[4,4]");
}

TEST(Scan, StacksWhatTurnsGive) {
  expect_row(
      kMeshes,
      {"5@x,2", "3,5@x,2"},
      "3,5@x,2",
      [](const Tensors& x) { return scan(x[0], x[1], multiply).second; },
      [](const Wholes& x) {
        const at::Tensor first = x[0] * x[1][0];
        return at::stack({first, first * x[1][1], first * x[1][1] * x[1][2]});
      });
  expect_row(
      kMeshes,
      {"5@x,2", "3,5@x,2"},
      "5@x,2",
      [](const Tensors& x) { return scan(x[0], x[1], multiply).first; },
      [](const Wholes& x) { return x[0] * x[1][0] * x[1][1] * x[1][2]; });
}

}  // namespace
}  // namespace brigade::tensor
