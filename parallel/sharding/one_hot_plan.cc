// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/one_hot_plan.h"

#include <algorithm>
#include <utility>

#include "parallel/base/text.h"
#include "parallel/sharding/type_rule.h"

namespace brigade::sharding {
namespace {

/// The rows, split as indices and classes are. Over other axes they are whatever copies the tensor
/// is.
TensorType one_hot(const OneHotProduct& product) {
  TensorType rows{product.tensor.dtype, product.indices.global, product.indices_spec};
  rows.global.push_back(product.classes);
  rows.spec = rows.spec.with_dim(product.indices.global.size(), product.class_axes)
                  .with_reduced(reduced_beside(product.tensor_spec, product.indices_spec));
  return rows;
}

/// How the einsum wants its rows, as a spec of the indices.
PartitionSpec indices_of(const TensorType& rows, const TensorType& indices) {
  return rows.spec.with_dim(indices.global.size(), {})
      .with_unreduced(indices.spec.unreduced())
      .with_reduced({});
}

const TensorType& last(const Casts& casts, const TensorType& from) {
  return casts.empty() ? from : casts.back().to;
}

Result<Casts> cut_indices(const mesh::Mesh& mesh,
                          const OneHotProduct& product,
                          const PartitionSpec& spec) {
  TensorType plain = product.indices;
  plain.spec = plain.spec.with_reduced({});
  Result<Casts> casts = plan_reshard(mesh, plain, spec);
  const bool moves = !casts || std::any_of(casts->begin(), casts->end(), [](const CastStep& step) {
    return step.kind != CastKind::kSlice;
  });
  if (moves) {
    return fail(ErrorCode::kType,
                concat(product.op,
                       ": the result asks for indices as ",
                       TensorType{plain.dtype, plain.global, spec}.to_string(mesh),
                       " and would move ",
                       product.indices.to_string(mesh),
                       "; reshard them first"));
  }
  return casts;
}

}  // namespace

AxisNames reduced_beside(const PartitionSpec& tensor, const PartitionSpec& indices) {
  AxisNames reduced = tensor.reduced();
  std::erase_if(
      reduced, [&](const std::string& axis) { return indices.state(axis) == AxisState::kSharded; });
  return reduced;
}

Result<OpPlan> plan_one_hot(const mesh::Mesh& mesh,
                            const OneHotProduct& product,
                            const std::optional<PartitionSpec>& out) {
  if (product.indices.dtype != DType::kInt64 && product.indices.dtype != DType::kInt32) {
    return fail(
        ErrorCode::kType,
        concat(product.op, ": indices must be i64 or i32, found ", product.indices.to_string()));
  }
  const TensorType rows = one_hot(product);
  const TensorType tensor{product.tensor.dtype, product.tensor.global, product.tensor_spec};
  Result<OpPlan> plan = plan_einsum(
      mesh,
      concat(product.indices_letters, ',', product.tensor_letters, "->", product.result_letters),
      rows,
      tensor,
      out);
  if (!plan) {
    return fail_within(concat(product.op,
                              " of ",
                              product.tensor.to_string(mesh),
                              " and ",
                              product.indices.to_string(mesh),
                              ", as the product of one-hot indices and the tensor: "),
                       plan.error());
  }
  Result<Casts> cuts =
      cut_indices(mesh, product, indices_of(last(plan->inputs[0], rows), product.indices));
  if (!cuts) {
    return fail(cuts.error());
  }
  Result<Casts> casts = plan_reshard(mesh, product.tensor, last(plan->inputs[1], tensor).spec);
  if (!casts) {
    return fail_within(concat(product.op, ": "), casts.error());
  }
  plan->inputs[0] = std::move(*cuts);
  plan->inputs[1] = std::move(*casts);
  plan->reason = concat(product.op, " of ", product.tensor.to_string(mesh));
  return plan;
}

}  // namespace brigade::sharding
