// SPDX-License-Identifier: Apache-2.0
/// Rows of the conformance list, and random cases, as values: an op on sharded operands beside the
/// same op on whole ones.
///
///   expect_row({"x2,y2", "x3,y2"}, {"8@x,2", "2,8@y"}, "8@x,8@y", product, whole_product);
///
/// Values are small whole numbers, so that sums are exact in any order and equal means equal.
#pragma once

#include <functional>
#include <random>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "parallel/tensor/program.h"
#include "parallel/tensor/sharded_tensor.h"
#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {

using WholeOp = std::function<at::Tensor(const std::vector<at::Tensor>& operands)>;

/// An operand: "8@x,2{U:y}" is of f32; "i64[8@x,4]" names another element type.
struct Given {
  Given(const char* text) : type(text) {}  // NOLINT: spelled in rows
  Given(std::string text, int64_t bound = 5) : type(std::move(text)), below(bound) {}

  std::string type;
  int64_t below = 5;  ///< integers are in [0, below)
};

sharding::TensorType type_of(const Given& given);

/// Meshes of 2, 4, 6 and 8 ranks with axes x and y, of which 2x4 and 3x2 split unevenly.
inline const std::vector<std::string> kMeshes = {"x2,y1", "x2,y2", "x2,y4", "x3,y2"};

/// On each mesh: the result is of the type spelled `result`, it and the gradients of all floating
/// operands equal those of the whole op, and gradients have the operands' dual types.
void expect_row(const std::vector<std::string>& meshes,
                const std::vector<Given>& operands,
                const std::string& result,
                const Op& op,
                const WholeOp& whole_op);

/// The op throws a kType error whose text has `part`, on every rank.
void expect_refused(const std::string& mesh,
                    const std::vector<Given>& operands,
                    const Op& op,
                    const std::string& part);

/// Whole numbers from -2 to 2, or in [0, below) for integers; the same on every rank.
at::Tensor whole_numbers(std::mt19937& random, const sharding::TensorType& type, int64_t below);

/// "" if op and whole op agree on operands of these types, forward and backward; else what differs.
/// Collective. Exceptions of `op` pass.
std::string compare(Program& program,
                    std::mt19937& random,
                    const std::vector<sharding::TensorType>& types,
                    const std::vector<at::Tensor>& wholes,
                    const Op& op,
                    const WholeOp& whole_op,
                    sharding::TensorType* result = nullptr);

}  // namespace brigade::tensor
