// SPDX-License-Identifier: Apache-2.0
#include "tests/parallel/tensor/op_check.h"

#include <memory>
#include <string>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "parallel/tensor/casts.h"
#include "tests/support/rank_threads.h"

namespace brigade::tensor {
namespace {

struct Outcome {
  at::Tensor value;
  std::vector<at::Tensor> gradients;
};

bool differentiable(const at::Tensor& tensor) {
  return tensor.is_floating_point();
}

/// Cotangents are a function of the shape, so that every rank draws the same.
at::Tensor cotangent(at::IntArrayRef sizes) {
  const at::Tensor index = at::arange(c10::multiply_integers(sizes), at::kFloat);
  return at::cos(index * 1.7 + 0.3).view(sizes);
}

Outcome run(Program& program, const std::vector<Operand>& operands, const Op& op) {
  std::vector<ShardedTensor> pieces;
  for (const Operand& operand : operands) {
    ShardedTensor piece = place(program, operand.whole, operand.spec);
    at::Tensor leaf = piece.local().detach().clone();
    leaf.set_requires_grad(differentiable(leaf));
    pieces.emplace_back(program, piece.type(), leaf);
  }
  const ShardedTensor result = op(pieces);
  const ShardedTensor seed =
      place(program, cotangent(result.type().global), dual(result.type()).spec);
  torch::autograd::backward({result.local()}, {seed.local()});
  Outcome outcome{collect(result), {}};
  for (const ShardedTensor& piece : pieces) {
    if (differentiable(piece.local())) {
      outcome.gradients.push_back(collect(piece.gradient()));
    }
  }
  return outcome;
}

void expect_close(const at::Tensor& found,
                  const at::Tensor& wanted,
                  double tolerance,
                  const std::string& what) {
  EXPECT_EQ(found.sizes(), wanted.sizes()) << what;
  EXPECT_TRUE(at::allclose(found, wanted, tolerance, tolerance))
      << what << ": largest difference " << (found - wanted).abs().max().item<float>();
}

}  // namespace

void on_mesh(const std::vector<mesh::Axis>& axes, const std::function<void(Program&)>& body) {
  const mesh::Mesh mesh = value_or_throw(mesh::Mesh::create(axes));
  testing::run_ranks(mesh.size(), [&](collective::World& world) {
    at::set_num_threads(1);
    Program program(
        mesh, world.rank(), [&](const std::vector<int64_t>& members, const std::string& name) {
          return world.group(members, name);
        });
    body(program);
  });
}

ShardedTensor place(Program& program,
                    const at::Tensor& whole,
                    const sharding::PartitionSpec& spec) {
  const at::NoGradGuard no_grad;
  const sharding::PartitionSpec sharded = spec.with_unreduced({}).with_reduced({});
  return reshard(distribute(program, whole, sharded), spec, "test operand");
}

at::Tensor numbers(at::IntArrayRef sizes, double phase) {
  return at::sin(at::arange(c10::multiply_integers(sizes), at::kFloat) * 0.37 + phase).view(sizes);
}

void expect_equal_to_one_rank(const std::vector<mesh::Axis>& axes,
                              const std::vector<Operand>& operands,
                              const Op& op,
                              double tolerance) {
  std::vector<mesh::Axis> ones = axes;
  for (mesh::Axis& axis : ones) {
    axis.size = 1;
  }
  Outcome wanted;
  on_mesh(ones, [&](Program& program) { wanted = run(program, operands, op); });
  on_mesh(axes, [&](Program& program) {
    const Outcome found = run(program, operands, op);
    const std::string rank = "rank " + std::to_string(program.rank());
    expect_close(found.value, wanted.value, tolerance, rank + " value");
    ASSERT_EQ(found.gradients.size(), wanted.gradients.size());
    for (size_t i = 0; i < found.gradients.size(); ++i) {
      expect_close(found.gradients[i],
                   wanted.gradients[i],
                   tolerance,
                   rank + " gradient " + std::to_string(i));
    }
  });
}

}  // namespace brigade::tensor
