// SPDX-License-Identifier: Apache-2.0
/// Plan of the product of one-hot rows and a tensor: what lookups and segment sums are.
///
/// A lookup of rows is one_hot(indices) x table, contracted over the classes; a segment sum is
/// one_hot(ids) x values, contracted over the ids. So their sharding is that of an einsum
/// (op_plan.h), with one difference: indices are integers, owed no gradient, and are cut where the
/// tensor is split but never gathered or exchanged.
#pragma once

#include <optional>
#include <string>

#include "parallel/base/result.h"
#include "parallel/mesh/mesh.h"
#include "parallel/sharding/op_plan.h"

namespace brigade::sharding {

struct OneHotProduct {
  std::string op;               ///< begins messages and reasons: "take along dim 1"
  std::string indices_letters;  ///< one per dim of the indices, then that of the classes
  std::string tensor_letters;
  std::string result_letters;
  TensorType indices;
  int64_t classes = 0;
  AxisNames class_axes;  ///< that split the classes: those of the tensor's or the result's dim
  TensorType tensor;
  /// What the operands are cast to before the einsum's own rules apply; usually their own specs.
  PartitionSpec indices_spec;
  PartitionSpec tensor_spec;
};

/// OpPlan::inputs: indices, tensor.
/// Errors: kType, as plan_einsum; for indices that are no integers or would have to move.
Result<OpPlan> plan_one_hot(const mesh::Mesh& mesh,
                            const OneHotProduct& product,
                            const std::optional<PartitionSpec>& out);

/// The reduced set of a tensor without the axes that split the indices: over these each rank does
/// something of its own.
AxisNames reduced_beside(const PartitionSpec& tensor, const PartitionSpec& indices);

}  // namespace brigade::sharding
