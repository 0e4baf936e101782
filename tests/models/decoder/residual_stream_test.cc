// SPDX-License-Identifier: Apache-2.0
#include "models/decoder/residual_stream.h"

#include <functional>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "parallel/tensor/buffers.h"
#include "parallel/tensor/program.h"
#include "tests/support/rank_threads.h"

namespace brigade::decoder {
namespace {

using sharding::CastKind;
using sharding::PartitionSpec;
using tensor::ShardedTensor;

const mesh::AxisNames kBatchAxes = {"dp_replicate", "dp_shard"};

StagePlace place(bool sequence_parallel) {
  return {.batch_axes = kBatchAxes, .sequence_parallel = sequence_parallel, .seed = 5};
}

/// Two data ranks by three tensor ranks.
void on_six_ranks(const std::function<void(tensor::Program&)>& body) {
  const mesh::Mesh mesh =
      value_or_throw(mesh::Mesh::create({{"dp_replicate", 1}, {"dp_shard", 2}, {"tp", 3}}));
  testing::run_ranks(mesh.size(), [&](collective::World& world) {
    tensor::Program program(mesh, world.rank(), [&](const auto& members, const std::string& name) {
      return world.group(members, name);
    });
    body(program);
  });
}

TEST(ResidualStream, SplitsTheSequenceWhenAsked) {
  on_six_ranks([](tensor::Program& program) {
    const sharding::TensorType whole = ResidualStream(program, place(false)).type(2, 7, 5);
    EXPECT_EQ(whole.global, (sharding::Shape{4, 7, 5}));
    EXPECT_EQ(whole.spec, PartitionSpec({kBatchAxes}));
    const sharding::TensorType split = ResidualStream(program, place(true)).type(2, 7, 5);
    EXPECT_EQ(split.global, whole.global);
    EXPECT_EQ(split.spec, PartitionSpec({{"dp_replicate", "dp_shard"}, {"tp"}}));
    const std::vector<int64_t> rows = {2, 2, 3};  // 7 places over 3 ranks
    EXPECT_EQ(tensor::local_shape(program, split)[1],
              rows[static_cast<size_t>(program.mesh().coordinate(program.rank(), "tp"))]);
  });
}

TEST(ResidualStream, KeepsIdsWholeOverTensorRanks) {
  on_six_ranks([](tensor::Program& program) {
    const at::Tensor rows = at::arange(14, at::kLong).view({2, 7});
    const ShardedTensor ids = ResidualStream(program, place(true)).ids(rows);
    EXPECT_EQ(ids.type().global, (sharding::Shape{4, 7}));
    EXPECT_EQ(ids.type().spec, PartitionSpec({kBatchAxes}));
    EXPECT_TRUE(at::equal(ids.local(), rows));
  });
}

/// What is left of ones at rate 0.5, on every rank of two data ranks by three tensor ranks.
std::vector<at::Tensor> masks(bool sequence_parallel) {
  constexpr int64_t kRows = 2;
  std::vector<at::Tensor> found(6);
  on_six_ranks([&](tensor::Program& program) {
    const ResidualStream stream(program, place(sequence_parallel));
    const sharding::TensorType type = stream.type(kRows, 7, 50);
    const ShardedTensor ones(program, type, at::ones(tensor::local_shape(program, type)));
    const executor::TrainingPlace rows{
        .step = 3, .first_row = kRows * program.mesh().coordinate(program.rank(), "dp_shard")};
    const at::Tensor mask = stream.drop(ones, 0.5, rows, "here").local().clone();
    EXPECT_TRUE(at::equal(stream.drop(ones, 0.5, rows, "here").local(), mask))
        << "a forward that is run again must drop the same elements";
    found[static_cast<size_t>(program.rank())] = mask;
  });
  return found;
}

TEST(ResidualStream, R018DropsAlikeOnTensorRanksAndOtherwiseOnDataRanks) {
  const std::vector<at::Tensor> found = masks(false);
  for (const size_t data : {size_t{0}, size_t{3}}) {
    EXPECT_TRUE(at::equal(found[data + 1], found[data]));
    EXPECT_TRUE(at::equal(found[data + 2], found[data]));
    EXPECT_NEAR(found[data].mean().item<double>(), 1.0, 0.2);
  }
  EXPECT_FALSE(at::equal(found[0], found[3]));
}

TEST(ResidualStream, R018DropsTheSameElementsWhereTheSequenceIsSplit) {
  const std::vector<at::Tensor> whole = masks(false);
  const std::vector<at::Tensor> parts = masks(true);
  for (const size_t data : {size_t{0}, size_t{3}}) {
    EXPECT_TRUE(
        at::equal(at::cat({parts[data], parts[data + 1], parts[data + 2]}, 1), whole[data]));
    EXPECT_FALSE(at::equal(parts[data], parts[data + 1])) << "slices must not repeat one mask";
  }
}

TEST(ResidualStream, DropsNothingInAnEvaluation) {
  on_six_ranks([](tensor::Program& program) {
    const ResidualStream stream(program, place(true));
    const sharding::TensorType type = stream.type(2, 7, 5);
    const ShardedTensor ones(program, type, at::ones(tensor::local_shape(program, type)));
    EXPECT_TRUE(at::equal(stream.drop(ones, 0.5, {}, "here").local(), ones.local()));
  });
}

TEST(ResidualStream, EntersWithOneCastEachWay) {
  on_six_ranks([](tensor::Program& program) {
    for (const bool sequence_parallel : {false, true}) {
      const ResidualStream stream(program, place(sequence_parallel));
      const sharding::TensorType type = stream.type(2, 7, 5);
      const at::Tensor local = at::ones(tensor::local_shape(program, type)).requires_grad_(true);
      program.ledger().clear();
      const ShardedTensor entered = stream.enter(ShardedTensor(program, type, local), "a block");
      EXPECT_EQ(entered.type().spec, PartitionSpec({kBatchAxes}).with_reduced({"tp"}));
      EXPECT_EQ(entered.local().size(1), 7);
      torch::autograd::backward({entered.local().sum()}, {});
      // Each tensor rank's gradient of ones is a term of the sum over three.
      EXPECT_TRUE(at::equal(local.grad(), at::full_like(local, 3.0)));
      std::vector<CastKind> casts;
      for (const tensor::LedgerEntry& entry : program.ledger().entries()) {
        EXPECT_EQ(entry.axes, mesh::AxisNames{"tp"});
        EXPECT_EQ(entry.reason, "a block");
        casts.push_back(entry.cast);
      }
      EXPECT_EQ(casts,
                sequence_parallel
                    ? (std::vector<CastKind>{CastKind::kGatherReduced, CastKind::kReduceScatter})
                    : (std::vector<CastKind>{CastKind::kAllReduce}));
    }
  });
}

}  // namespace
}  // namespace brigade::decoder
