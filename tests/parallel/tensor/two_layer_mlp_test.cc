// SPDX-License-Identifier: Apache-2.0
// The first end-to-end case of the conformance rows, K1 to K8: tanh(x w1 + b1) w2 + b2 with
// x (64, 128), w1 (128, 64), w2 (64, 16), loss mean(y^2), by types, values and ledger.
#include <functional>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "parallel/tensor/casts.h"
#include "parallel/tensor/jit.h"
#include "parallel/tensor/ops/einsum.h"
#include "parallel/tensor/ops/elementwise.h"
#include "parallel/tensor/ops/reduce.h"
#include "parallel/tensor/ops/unary.h"
#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

using sharding::CastKind;
using sharding::PartitionSpec;
using sharding::TensorType;
using ::testing::HasSubstr;

const PartitionSpec kWhole;
const PartitionSpec kRows({{"data"}, {}});
const PartitionSpec kReduced = PartitionSpec().with_reduced({"data"});
constexpr int64_t kFloat = 4;
constexpr int64_t kParameterBytes = (128 * 64 + 64 + 64 * 16 + 16) * kFloat;
static_assert(kParameterBytes == 37'184);

struct Specs {
  PartitionSpec w1;
  PartitionSpec b1;
  PartitionSpec w2;
  PartitionSpec b2;
};

/// Whole values, and what one rank makes of them.
struct Truth {
  std::vector<at::Tensor> parameters = {numbers({128, 64}, 0.2) * 0.1,
                                        numbers({64}, 0.3) * 0.1,
                                        numbers({64, 16}, 0.4) * 0.1,
                                        numbers({16}, 0.5) * 0.1};
  at::Tensor x = numbers({64, 128}, 0.1);
  at::Tensor y;
  at::Tensor loss;
  std::vector<at::Tensor> gradients;
  at::Tensor x_gradient;

  Truth() {
    std::vector<at::Tensor> p;
    for (const at::Tensor& parameter : parameters) {
      p.push_back(parameter.clone().set_requires_grad(true));
    }
    const at::Tensor leaf = x.clone().set_requires_grad(true);
    y = at::tanh(leaf.mm(p[0]) + p[1]).mm(p[2]) + p[3];
    loss = (y * y).mean();
    torch::autograd::backward({loss}, {at::ones({})});
    for (const at::Tensor& parameter : p) {
      gradients.push_back(parameter.grad());
    }
    x_gradient = leaf.grad();
    y = y.detach();
    loss = loss.detach();
  }
};

const Truth& truth() {
  static const Truth instance;
  return instance;
}

/// The program on one mesh: what was made of it and the ledger of each part.
struct Outcome {
  ShardedTensor x;
  std::vector<ShardedTensor> parameters;
  ShardedTensor y;
  ShardedTensor loss;
  std::vector<LedgerEntry> forward;
  std::vector<LedgerEntry> of_loss;
  std::vector<LedgerEntry> backward;
};

ShardedTensor leaf(Program& program,
                   const at::Tensor& whole,
                   const PartitionSpec& spec,
                   bool requires_gradient = true) {
  const ShardedTensor piece = distribute(program, whole, spec);
  piece.local().set_requires_grad(requires_gradient);
  return piece;
}

std::vector<LedgerEntry> taken(Program& program) {
  std::vector<LedgerEntry> entries = program.ledger().entries();
  program.ledger().clear();
  return entries;
}

Outcome run(Program& program,
            const Specs& specs,
            std::optional<PartitionSpec> out = kRows,
            bool x_gradient = false) {
  const auto mlp = [&](const ShardedTensor& x,
                       const ShardedTensor& w1,
                       const ShardedTensor& b1,
                       const ShardedTensor& w2,
                       const ShardedTensor& b2) {
    return einsum("bh,ho->bo", tanh(einsum("bi,ih->bh", x, w1) + b1), w2, out) + b2;
  };
  const BoundarySharding result_sharding =
      out ? BoundarySharding(*out) : BoundarySharding(std::nullopt);
  const auto f =
      jit(program, mlp, {kRows, specs.w1, specs.b1, specs.w2, specs.b2}, {result_sharding});
  Outcome result;
  result.x = leaf(program, truth().x, kRows, x_gradient);
  const std::vector<PartitionSpec> each = {specs.w1, specs.b1, specs.w2, specs.b2};
  for (size_t i = 0; i < each.size(); ++i) {
    result.parameters.push_back(leaf(program, truth().parameters[i], each[i]));
  }
  const std::vector<ShardedTensor>& p = result.parameters;
  program.ledger().clear();
  result.y = f(result.x, p[0], p[1], p[2], p[3]);
  result.forward = taken(program);
  result.loss = mean(result.y * result.y);
  result.of_loss = taken(program);
  torch::autograd::backward({result.loss.local()}, {at::ones({})});
  result.backward = taken(program);
  return result;
}

int64_t bytes_of(const std::vector<LedgerEntry>& entries) {
  int64_t bytes = 0;
  for (const LedgerEntry& entry : entries) {
    bytes += entry.group_bytes;
  }
  return bytes;
}

std::vector<LedgerEntry> over(const std::vector<LedgerEntry>& entries, const std::string& axis) {
  std::vector<LedgerEntry> found;
  for (const LedgerEntry& entry : entries) {
    if (std::find(entry.axes.begin(), entry.axes.end(), axis) != entry.axes.end()) {
      found.push_back(entry);
    }
  }
  return found;
}

std::vector<CastKind> casts_of(const std::vector<LedgerEntry>& entries) {
  std::vector<CastKind> casts;
  for (const LedgerEntry& entry : entries) {
    casts.push_back(entry.cast);
  }
  return casts;
}

void expect_true_values(const Outcome& run) {
  EXPECT_TRUE(at::allclose(collect(run.y), truth().y, 1e-5, 1e-5));
  EXPECT_TRUE(at::allclose(collect(run.loss), truth().loss, 1e-5, 1e-6));
  for (size_t i = 0; i < run.parameters.size(); ++i) {
    EXPECT_TRUE(
        at::allclose(collect(run.parameters[i].gradient()), truth().gradients[i], 1e-5, 1e-6))
        << "parameter " << i;
  }
}

std::vector<mesh::Axis> data(int64_t ranks) {
  return {{"data", ranks}};
}

const Specs kReplicated{kWhole, kWhole, kWhole, kWhole};

TEST(TwoLayerMlp, K1_RowsAreSplitAndTheForwardMovesNothing) {
  for (const int64_t ranks : {1, 2, 4, 8}) {
    on_mesh(data(ranks), [&](Program& program) {
      const Outcome found = run(program, kReplicated);
      EXPECT_EQ(found.x.local().size(0), 64 / ranks);
      EXPECT_EQ(found.y.type().to_string(), "f32[64@data,16]");
      EXPECT_EQ(found.y.local().size(0), 64 / ranks);
      EXPECT_TRUE(found.forward.empty());
      expect_true_values(found);
    });
  }
}

TEST(TwoLayerMlp, K2_TheLossIsOneScalarAllReduce) {
  for (const int64_t ranks : {2, 4, 8}) {
    on_mesh(data(ranks), [&](Program& program) {
      const Outcome found = run(program, kReplicated);
      ASSERT_EQ(casts_of(found.of_loss), std::vector<CastKind>{CastKind::kAllReduce});
      EXPECT_EQ(bytes_of(found.of_loss), 2 * (ranks - 1) * kFloat);
      EXPECT_EQ(found.loss.type().to_string(), "f32[]");
    });
  }
}

TEST(TwoLayerMlp, K3_ReplicatedParametersCostFourAllReducesBackward) {
  for (const int64_t ranks : {2, 4, 8}) {
    on_mesh(data(ranks), [&](Program& program) {
      const Outcome found = run(program, kReplicated);
      EXPECT_EQ(casts_of(found.backward), std::vector<CastKind>(4, CastKind::kAllReduce));
      EXPECT_EQ(bytes_of(found.backward), 2 * (ranks - 1) * kParameterBytes);
      for (const ShardedTensor& parameter : found.parameters) {
        EXPECT_EQ(parameter.gradient().type().spec, kWhole);
      }
    });
  }
}

TEST(TwoLayerMlp, K4_ReducedParametersCostNothingBackwardAndOneReductionAfter) {
  const Specs specs{kReduced, kReduced, kReduced, kReduced};
  on_mesh(data(4), [&](Program& program) {
    const Outcome found = run(program, specs);
    EXPECT_TRUE(found.forward.empty());
    EXPECT_TRUE(found.backward.empty());
    expect_true_values(found);
    program.ledger().clear();
    for (const ShardedTensor& parameter : found.parameters) {
      EXPECT_EQ(parameter.gradient().type().spec, kWhole.with_unreduced({"data"}));
      (void)reshard(parameter.gradient(), kWhole, "gradients");
    }
    EXPECT_EQ(bytes_of(taken(program)), 2 * 3 * kParameterBytes);
    for (const ShardedTensor& parameter : found.parameters) {
      (void)reshard(parameter.gradient(), PartitionSpec({{"data"}}), "gradients");
    }
    EXPECT_EQ(bytes_of(taken(program)), 3 * kParameterBytes);
  });
}

TEST(TwoLayerMlp, K5_ThreeRanksHoldFloorIntervalsAndDivideByTheGlobalCount) {
  on_mesh(data(3), [](Program& program) {
    const Outcome found = run(program, kReplicated);
    EXPECT_EQ(found.y.local().size(0), program.rank() == 2 ? 22 : 21);
    expect_true_values(found);  // a mean of means would differ
    const at::Tensor own = found.y.local().detach();
    const TensorType terms{DType::kFloat32, {}, kWhole.with_unreduced({"data"})};
    const ShardedTensor means(program, terms, (own * own).mean());
    const at::Tensor mean_of_means = reshard(means, kWhole, "the wrong way").local() / 3;
    EXPECT_GT(std::abs((mean_of_means - truth().loss).item<float>()), 1e-7);
  });
}

TEST(TwoLayerMlp, K6_AStoredShardIsGatheredForwardAndReduceScatteredBackward) {
  const Specs specs{PartitionSpec({{"data"}, {}}), kReduced, kReduced, kReduced};
  on_mesh(data(4), [&](Program& program) {
    const Outcome found = run(program, specs);
    EXPECT_EQ(found.parameters[0].local().sizes(), at::IntArrayRef({32, 64}));
    EXPECT_EQ(casts_of(found.forward), std::vector<CastKind>{CastKind::kGatherReduced});
    EXPECT_EQ(casts_of(found.backward), std::vector<CastKind>{CastKind::kReduceScatter});
    EXPECT_EQ(bytes_of(found.forward), 3 * 128 * 64 * kFloat);
    EXPECT_EQ(bytes_of(found.backward), 3 * 128 * 64 * kFloat);
    EXPECT_EQ(found.parameters[0].gradient().type().to_string(), "f32[128@data,64]");
    expect_true_values(found);
  });
}

const std::vector<mesh::Axis> kPlane = {{"data", 2}, {"model", 2}};
const Specs kTensorParallel{PartitionSpec({{}, {"model"}}).with_reduced({"data"}),
                            PartitionSpec({{"model"}}).with_reduced({"data"}),
                            PartitionSpec({{"model"}, {}}).with_reduced({"data"}),
                            kReduced};

TEST(TwoLayerMlp, K7_TheSecondProductNeedsOutAndPaysWhatItSays) {
  on_mesh(kPlane, [](Program& program) {
    try {
      (void)run(program, kTensorParallel, std::nullopt);
      FAIL() << "no error";
    } catch (const Exception& exception) {
      EXPECT_EQ(exception.error().code, ErrorCode::kType);
      EXPECT_THAT(exception.error().text, HasSubstr("out"));
    }
    const Outcome whole = run(program, kTensorParallel);
    EXPECT_EQ(whole.y.type().to_string(), "f32[64@data,16]");
    EXPECT_EQ(casts_of(whole.forward), std::vector<CastKind>{CastKind::kAllReduce});
    EXPECT_EQ(whole.forward[0].axes, mesh::AxisNames{"model"});
    EXPECT_EQ(bytes_of(whole.forward), 2 * 32 * 16 * kFloat);
    expect_true_values(whole);

    const Outcome split = run(program, kTensorParallel, PartitionSpec({{"data"}, {"model"}}));
    EXPECT_EQ(split.y.type().to_string(), "f32[64@data,16@model]");
    EXPECT_EQ(casts_of(split.forward), std::vector<CastKind>{CastKind::kReduceScatter});
    EXPECT_EQ(bytes_of(split.forward), 32 * 16 * kFloat);
    expect_true_values(split);
  });
}

TEST(TwoLayerMlp, K8_TheBackwardOfTensorParallelReducesOnlyTheInputsGradient) {
  on_mesh(kPlane, [](Program& program) {
    const Outcome without = run(program, kTensorParallel);
    EXPECT_TRUE(over(without.backward, "model").empty());
    const Outcome with = run(program, kTensorParallel, kRows, /*x_gradient=*/true);
    const std::vector<LedgerEntry> found = over(with.backward, "model");
    ASSERT_EQ(casts_of(found), std::vector<CastKind>{CastKind::kAllReduce});
    EXPECT_EQ(bytes_of(found), 2 * 32 * 128 * kFloat);
    EXPECT_TRUE(at::allclose(collect(with.x.gradient()), truth().x_gradient, 1e-5, 1e-6));
  });
}

}  // namespace
}  // namespace brigade::tensor
