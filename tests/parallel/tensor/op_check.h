// SPDX-License-Identifier: Apache-2.0
/// Compares an op on sharded operands with the same op on one rank: value, every gradient, and the
/// gradients' types.
#pragma once

#include <functional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "parallel/mesh/mesh.h"
#include "parallel/tensor/program.h"
#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

struct Operand {
  at::Tensor whole;
  sharding::PartitionSpec spec;
};

using Op = std::function<ShardedTensor(const std::vector<ShardedTensor>& operands)>;

/// Runs `body` on every rank of a mesh, as threads over in-process links.
void on_mesh(const std::vector<mesh::Axis>& axes, const std::function<void(Program&)>& body);

/// This rank's piece of a whole tensor, also for specs with unreduced axes (the first rank holds
/// the value).
ShardedTensor place(Program& program, const at::Tensor& whole, const sharding::PartitionSpec& spec);

/// Bounded, irregular fp32 values, the same on every rank.
at::Tensor numbers(at::IntArrayRef sizes, double phase);

/// The op on `axes` equals the op on one rank within `tolerance` (absolute and relative), forward
/// and backward; the cotangent is random. Returns nothing: failures are GoogleTest's.
void expect_equal_to_one_rank(const std::vector<mesh::Axis>& axes,
                              const std::vector<Operand>& operands,
                              const Op& op,
                              double tolerance = 1e-5);

}  // namespace brigade::tensor
