// SPDX-License-Identifier: Apache-2.0
/// What tests of ops share: meshes of threads, operands by their types, and the comparison with one
/// rank - value, every gradient, and the gradients' types.
///
///   TEST(Tanh, EqualsLibtorchs) {
///     expect_equal_to_libtorch({{"x2", {"5@x,3"}}, {"x2,y4", {"5@y,3@x"}}},
///                              [](const auto& of) { return tanh(of[0]); },
///                              [](const auto& of) { return at::tanh(of[0]); });
///   }
///   EXPECT_EQ(refusal_of({"x2", {"8{U:x}"}}, ...), "tanh: operand 0 ...");
///   EXPECT_EQ(ledger_of({"x2", {"8@x"}}, ...), "forward all_reduce x 8");
#pragma once

#include <functional>
#include <string>
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

/// A mesh as "x2,y4" and the operands' types: "8@x,5", f32 unless written out as "bool[8@x]".
struct Placed {
  std::string mesh;
  std::vector<std::string> types;
};

/// The op's truth: libtorch's on whole tensors.
using Truth = std::function<at::Tensor(const std::vector<at::Tensor>& wholes)>;

/// Runs `body` on every rank of a mesh, as threads over in-process links.
void on_mesh(const std::vector<mesh::Axis>& axes, const std::function<void(Program&)>& body);
void on_mesh(const std::string& mesh, const std::function<void(Program&)>& body);

/// This rank's piece of a whole tensor; of a spec with unreduced axes each rank holds a different
/// multiple, in all one.
ShardedTensor place(Program& program, const at::Tensor& whole, const sharding::PartitionSpec& spec);

/// Bounded, irregular fp32 values, the same on every rank.
at::Tensor numbers(at::IntArrayRef sizes, double phase);

/// Such values as each of the types says, as whole tensors.
std::vector<Operand> operands_of(const Placed& placed);

/// The op on `axes` equals the op on one rank within `tolerance` (absolute and relative), forward
/// and backward; the cotangent is random. Returns nothing: failures are GoogleTest's.
void expect_equal_to_one_rank(const std::vector<mesh::Axis>& axes,
                              const std::vector<Operand>& operands,
                              const Op& op,
                              double tolerance = 1e-5);

/// The same for each placement against libtorch on whole tensors.
void expect_equal_to_libtorch(const std::vector<Placed>& placements,
                              const Op& op,
                              const Truth& truth,
                              double tolerance = 1e-5);

/// The op on bf16 operands equals, forward and backward, the op on the same values in fp32 on one
/// rank, within `ulps` of bf16 (more where ranks' terms, rounded, add up and cancel). Floating
/// operands are given in fp32.
void expect_bf16_rounds_float(const std::string& mesh,
                              const std::vector<Operand>& operands,
                              const Op& op,
                              double ulps = 2);
void expect_bf16_rounds_float(const std::vector<Placed>& placements, const Op& op, double ulps = 2);

/// What the op writes to the ledger, equal on all ranks: "forward all_reduce x 16; backward gather
/// y 8", with the bytes of the group.
std::string ledger_of(const Placed& placed, const Op& op);

/// The type of the op's result, with axes in mesh order.
std::string type_of(const Placed& placed, const Op& op);

/// The text of the error that the op throws, equal on all ranks; "" if it does not.
std::string refusal_of(const Placed& placed, const Op& op);

}  // namespace brigade::tensor
