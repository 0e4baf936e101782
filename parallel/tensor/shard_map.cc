// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/shard_map.h"

#include <ATen/ATen.h>

#include "parallel/base/text.h"
#include "parallel/sharding/type_rule.h"
#include "parallel/tensor/casts.h"
#include "parallel/tensor/claims.h"
#include "parallel/tensor/node.h"

namespace brigade::tensor {
namespace {

using mesh::AxisNames;
using sharding::AxisState;
using sharding::PartitionSpec;
using sharding::TensorType;

AxisNames axes_in(const mesh::Mesh& mesh, const PartitionSpec& spec, AxisState state) {
  AxisNames axes;
  for (const mesh::Axis& axis : mesh.axes()) {
    if (axis.size > 1 && spec.state(axis.name) == state) {
      axes.push_back(axis.name);
    }
  }
  return axes;
}

/// What the body sees: a copy is Reduced, so that the gradients of its ranks' variables are summed.
PartitionSpec as_variables(const mesh::Mesh& mesh, const PartitionSpec& spec) {
  AxisNames reduced;
  for (const mesh::Axis& axis : mesh.axes()) {
    const AxisState state = spec.state(axis.name);
    if (state == AxisState::kReplicated || state == AxisState::kReduced) {
      reduced.push_back(axis.name);
    }
  }
  return spec.with_reduced(std::move(reduced));
}

/// `result` = `input`, with `node` behind it where a gradient is wanted.
template <class Node, class... Parts>
at::Tensor passed_by(const at::Tensor& input, Parts&&... parts) {
  if (!needs_gradient({input})) {
    return input;
  }
  at::Tensor result;
  {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    result = at::alias(input);
  }
  record(make_node<Node>(std::forward<Parts>(parts)...), {input}, result);
  return result;
}

/// Copies of one value: the cotangent enters on the first rank alone.
class KeepFirstNode final : public OpNode {
 public:
  explicit KeepFirstNode(bool first) : first_(first) {}

  std::vector<at::Tensor> backward(const std::vector<at::Tensor>& gradients) override {
    return {first_ ? gradients[0] : at::zeros_like(gradients[0])};
  }

 private:
  bool first_;
};

/// Terms of a sum: only a body that depends on nothing but the sum has a gradient for it.
class TermsNode final : public OpNode {
 public:
  TermsNode(Program& program, AxisNames axes, std::string what)
      : program_(program), axes_(std::move(axes)), what_(std::move(what)) {}

  std::vector<at::Tensor> backward(const std::vector<at::Tensor>& gradients) override {
    expect_equal_over(program_, axes_, gradients[0], what_);
    return {gradients[0]};
  }

 private:
  Program& program_;
  AxisNames axes_;
  std::string what_;
};

}  // namespace

ShardMapBoundary::ShardMapBoundary(Program& program,
                                   const BoundaryShardings& in,
                                   const BoundaryShardings& out,
                                   ShardMapOptions options)
    : program_(program),
      name_("shard_map"),
      in_(specs_of(program, in, "shard_map: in_specs")),
      out_(specs_of(program, out, "shard_map: out_specs")),
      options_(options) {
  for (size_t index = 0; index < out_.size(); ++index) {
    if (!out_[index]) {
      refuse_at_boundary(
          sharding::rule::kBoundary,
          concat("shard_map: out_specs[",
                 index,
                 "] must be given: a local result does not say what it is a piece of"));
    }
  }
}

ShardMapBoundary::ShardMapBoundary(Program& program, const std::string& axis)
    : program_(program), name_("pmap") {
  alike_ = specs_of(program, {PartitionSpec({{axis}})}, "pmap: axis").front();
}

ShardMapBoundary::Specs ShardMapBoundary::specs_for(size_t values,
                                                    const Specs& specs,
                                                    std::string_view values_name) const {
  if (alike_) {
    return Specs(values, alike_);
  }
  expect_count(name_, values, values_name, specs.size(), "specs");
  return specs;
}

std::vector<at::Tensor> ShardMapBoundary::enter(const Arguments& arguments) const {
  const Specs specs = specs_for(arguments.size(), in_, "arguments");
  std::vector<at::Tensor> pieces;
  for (size_t index = 0; index < arguments.size(); ++index) {
    const std::string what = concat(name_, ": argument ", index);
    const ShardedTensor given = as_sharded(program_, arguments[index], what);
    const PartitionSpec spec = specs[index].value_or(given.type().spec);
    const at::Tensor piece = reshard(given, as_variables(program_.mesh(), spec), what).local();
    const AxisNames terms = axes_in(program_.mesh(), spec, AxisState::kUnreduced);
    pieces.push_back(
        terms.empty() || !options_.check
            ? piece
            : passed_by<TermsNode>(
                  piece, program_, terms, concat(what, ": the gradient of its terms")));
  }
  return pieces;
}

std::vector<ShardedTensor> ShardMapBoundary::leave(const std::vector<at::Tensor>& results) const {
  std::vector<PartitionSpec> specs;
  for (const std::optional<PartitionSpec>& spec : specs_for(results.size(), out_, "outputs")) {
    specs.push_back(*spec);
  }
  const std::vector<TensorType> types =
      claimed_types(program_, results, specs, options_.check, name_);
  std::vector<ShardedTensor> outputs;
  for (size_t index = 0; index < results.size(); ++index) {
    const AxisNames copies = axes_in(program_.mesh(), specs[index], AxisState::kReplicated);
    const bool first = program_.mesh().flattened_index(program_.rank(), copies) == 0;
    outputs.emplace_back(
        program_,
        types[index],
        copies.empty() ? results[index] : passed_by<KeepFirstNode>(results[index], first));
  }
  return outputs;
}

}  // namespace brigade::tensor
