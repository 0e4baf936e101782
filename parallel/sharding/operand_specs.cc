// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/operand_specs.h"

#include <algorithm>
#include <utility>

#include "parallel/base/text.h"
#include "parallel/sharding/type_rule.h"

namespace brigade::sharding {
namespace {

AxisNames with(AxisNames axes, const std::string& axis) {
  axes.push_back(axis);
  return axes;
}

AxisNames without(AxisNames axes, const std::string& axis) {
  std::erase(axes, axis);
  return axes;
}

}  // namespace

OperandSpecs::OperandSpecs(const mesh::Mesh& mesh,
                           std::string op,
                           std::span<const TensorType> operands)
    : mesh_(mesh), op_(std::move(op)), operands_(operands) {
  for (const TensorType& operand : operands) {
    specs_.push_back(operand.spec);
  }
}

tl::unexpected<Error> OperandSpecs::error(std::string_view text, std::string_view rule) const {
  return fail_type(rule, concat(op_, ": ", text));
}

std::string OperandSpecs::name(size_t index) const {
  return concat("operand ", index, ' ', operands_[index].to_string(mesh_));
}

Result<void> OperandSpecs::check(bool unreduced_allowed, Reduction kind) const {
  for (size_t index = 0; index < operands_.size(); ++index) {
    const TensorType& operand = operands_[index];
    if (Result<void> legal = operand.check(mesh_); !legal) {
      return fail_within(concat(op_, ": operand ", index, ": "), legal.error());
    }
    if (operand.spec.unreduced().empty()) {
      continue;
    }
    const std::string axes = join(mesh_.in_mesh_order(operand.spec.unreduced()));
    const Reduction terms = operand.spec.unreduced_kind();
    if (unreduced_allowed && terms != kind) {
      return error(concat(name(index),
                          " holds terms of a ",
                          to_string(terms),
                          " over ",
                          axes,
                          ", which only a ",
                          to_string(terms),
                          " lets through; reshard it to finish the ",
                          to_string(terms)),
                   rule::kUnreduced);
    }
    if (!unreduced_allowed) {
      return error(concat(name(index),
                          " is unreduced over ",
                          axes,
                          ", which only linear ops let through; reshard it to finish the ",
                          to_string(terms)),
                   rule::kUnreduced);
    }
  }
  return {};
}

Result<void> OperandSpecs::slice(size_t index, size_t dim, const AxisNames& axes) {
  PartitionSpec& spec = specs_[index];
  for (const std::string& axis : axes) {
    const AxisState state = spec.state(axis);
    if (state != AxisState::kReplicated && state != AxisState::kReduced) {
      return error(concat("dim ",
                          dim,
                          " of ",
                          name(index),
                          " would be split over ",
                          axis,
                          " (size ",
                          mesh_.axis_size(axis),
                          "), which another operand splits, but ",
                          state == AxisState::kUnreduced
                              ? "it is unreduced over it"
                              : concat("that splits its dim ", spec.dim_of(axis)),
                          "; reshard one of them"));
    }
    spec = spec.with_reduced(without(spec.reduced(), axis));
  }
  spec = spec.with_dim(dim, axes);
  return {};
}

void OperandSpecs::gather(size_t index, size_t dim, size_t keep) {
  AxisNames kept = specs_[index].dim(dim);
  kept.resize(keep);
  specs_[index] = specs_[index].with_dim(dim, std::move(kept));
}

bool OperandSpecs::splits(size_t index, std::string_view axis) const {
  return specs_[index].state(axis) == AxisState::kSharded;
}

bool OperandSpecs::varies(std::string_view axis) const {
  for (size_t index = 0; index < specs_.size(); ++index) {
    if (splits(index, axis)) {
      return true;
    }
  }
  return false;
}

bool OperandSpecs::gathered(size_t index, std::string_view axis) const {
  return operands_[index].spec.state(axis) == AxisState::kSharded && !splits(index, axis);
}

// Says whether the result is reduced over `axis`.
Result<bool> OperandSpecs::settle_axis(const std::string& axis) {
  constexpr size_t kNone = static_cast<size_t>(-1);
  size_t replicated = kNone;
  size_t reduced = kNone;
  for (size_t index = 0; index < specs_.size(); ++index) {
    if (!is_float(operands_[index].dtype)) {
      continue;
    }
    const AxisState state = specs_[index].state(axis);
    replicated = state == AxisState::kReplicated && !gathered(index, axis) ? index : replicated;
    reduced = state == AxisState::kReduced ? index : reduced;
  }
  const bool mark = varies(axis);
  if (!mark && replicated != kNone && reduced != kNone) {
    return error(concat(name(reduced),
                        " is reduced over ",
                        axis,
                        ", ",
                        name(replicated),
                        " is replicated over it, and no operand is split over it; reshard the "
                        "replicated one to {R:",
                        axis,
                        "}"));
  }
  const bool to_reduced = mark || reduced != kNone;
  for (size_t index = 0; index < specs_.size(); ++index) {
    PartitionSpec& spec = specs_[index];
    if (to_reduced && is_float(operands_[index].dtype) &&
        spec.state(axis) == AxisState::kReplicated) {
      spec = spec.with_reduced(with(spec.reduced(), axis));
    }
  }
  return !mark && reduced != kNone;
}

Result<AxisNames> OperandSpecs::settle_copies(const AxisNames& unreduced, bool gradients) {
  AxisNames reduced;
  if (!gradients) {
    return reduced;
  }
  for (const mesh::Axis& axis : mesh_.axes()) {
    if (std::find(unreduced.begin(), unreduced.end(), axis.name) != unreduced.end()) {
      continue;
    }
    Result<bool> result_reduced = settle_axis(axis.name);
    if (!result_reduced) {
      return fail(result_reduced.error());
    }
    if (*result_reduced) {
      reduced.push_back(axis.name);
    }
  }
  return reduced;
}

Result<std::vector<Casts>> OperandSpecs::casts() const {
  std::vector<Casts> all;
  for (size_t index = 0; index < operands_.size(); ++index) {
    Result<Casts> casts = plan_reshard(mesh_, operands_[index], specs_[index]);
    if (!casts) {
      return fail_within(concat(op_, ": "), casts.error());
    }
    all.push_back(std::move(*casts));
  }
  return all;
}

}  // namespace brigade::sharding
