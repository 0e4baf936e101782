// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "parallel/base/text.h"
#include "parallel/sharding/elementwise_plan.h"
#include "parallel/sharding/operand_specs.h"
#include "parallel/sharding/type_rule.h"

namespace brigade::sharding {
namespace {

class ElementwisePlanner {
 public:
  ElementwisePlanner(const mesh::Mesh& mesh,
                     std::string_view op,
                     std::span<const TensorType> operands,
                     Algebra algebra)
      : mesh_(mesh), operands_(operands), op_(op), algebra_(algebra), specs_(mesh, op_, operands) {}

  Result<OpPlan> plan() {
    if (operands_.empty()) {
      return specs_.error("an elementwise op needs an operand");
    }
    for (const auto stage : {&ElementwisePlanner::check,
                             &ElementwisePlanner::choose_dtype,
                             &ElementwisePlanner::broadcast,
                             &ElementwisePlanner::choose_dims,
                             &ElementwisePlanner::refuse_double_use,
                             &ElementwisePlanner::choose_unreduced,
                             &ElementwisePlanner::slice_whole_operands}) {
      if (Result<void> done = (this->*stage)(); !done) {
        return fail(done.error());
      }
    }
    return finish();
  }

 private:
  Result<void> check() { return specs_.check(true); }
  Result<void> choose_dtype();
  Result<void> broadcast();
  Result<void> choose_dims();
  Result<void> refuse_double_use();
  Result<void> choose_unreduced();
  Result<void> slice_whole_operands();
  Result<void> check_equal_terms(size_t first) const;
  Result<void> check_mask() const;
  Result<void> check_scaled_terms() const;
  Result<OpPlan> finish();

  /// The operand's dim behind dim `dim` of the result; -1 if it has none.
  int64_t own_dim(size_t index, size_t dim) const {
    const auto rank = static_cast<int64_t>(operands_[index].global.size());
    return static_cast<int64_t>(dim) + rank - static_cast<int64_t>(global_.size());
  }
  int64_t own_size(size_t index, size_t dim) const {
    const int64_t own = own_dim(index, dim);
    return own < 0 ? 1 : operands_[index].global[static_cast<size_t>(own)];
  }
  AxisNames own_axes(size_t index, size_t dim) const {
    const int64_t own = own_dim(index, dim);
    return own < 0 ? AxisNames() : operands_[index].spec.dim(static_cast<size_t>(own));
  }

  const mesh::Mesh& mesh_;
  std::span<const TensorType> operands_;
  std::string op_;
  Algebra algebra_;
  OperandSpecs specs_;
  DType dtype_ = DType::kBool;
  Shape global_;
  std::vector<AxisNames> dims_;
  std::vector<size_t> split_by_;  // the operand that splits dim i
  AxisNames unreduced_;
};

Result<void> ElementwisePlanner::choose_dtype() {
  for (size_t index = 0; index < operands_.size(); ++index) {
    const DType dtype = operands_[index].dtype;
    if (dtype == DType::kBool) {
      continue;
    }
    if (dtype_ != DType::kBool && dtype_ != dtype) {
      return specs_.error(concat("the operands' element types differ: ",
                                 dtype_,
                                 " and ",
                                 dtype,
                                 " of ",
                                 specs_.name(index),
                                 "; cast one of them"));
    }
    dtype_ = dtype;
  }
  if (algebra_ == Algebra::kChoice && operands_[0].dtype != DType::kBool) {
    return specs_.error(concat(specs_.name(0), " chooses and should be bool"));
  }
  if (algebra_ == Algebra::kQuotient) {
    return expect_floats(mesh_, op_, operands_[0]);
  }
  return {};
}

Result<void> ElementwisePlanner::broadcast() {
  size_t rank = 0;
  for (const TensorType& operand : operands_) {
    rank = std::max(rank, operand.global.size());
  }
  global_.assign(rank, 1);
  for (size_t dim = 0; dim < rank; ++dim) {
    for (size_t index = 0; index < operands_.size(); ++index) {
      const int64_t size = own_size(index, dim);
      if (size != 1 && global_[dim] != 1 && size != global_[dim]) {
        return specs_.error(concat("dim ",
                                   dim,
                                   " of the result cannot be both ",
                                   global_[dim],
                                   " and ",
                                   size,
                                   " as in ",
                                   specs_.name(index)));
      }
      global_[dim] = size == 1 ? global_[dim] : size;
    }
  }
  return {};
}

Result<void> ElementwisePlanner::choose_dims() {
  dims_.resize(global_.size());
  split_by_.resize(global_.size());
  for (size_t dim = 0; dim < global_.size(); ++dim) {
    for (size_t index = 0; index < operands_.size(); ++index) {
      const AxisNames axes = own_axes(index, dim);
      if (axes.empty()) {
        continue;
      }
      if (own_size(index, dim) != global_[dim]) {
        return specs_.error(concat(specs_.name(index),
                                   " is broadcast along dim ",
                                   dim,
                                   " (size 1 to ",
                                   global_[dim],
                                   ") and must not be split there over ",
                                   join(axes),
                                   "; reshard it"));
      }
      if (!dims_[dim].empty() && dims_[dim] != axes) {
        return specs_.error(concat("dim ",
                                   dim,
                                   " (size ",
                                   global_[dim],
                                   ") is split over ",
                                   join(dims_[dim]),
                                   " by ",
                                   specs_.name(split_by_[dim]),
                                   " and over ",
                                   join(axes),
                                   " by ",
                                   specs_.name(index),
                                   "; reshard one of them"),
                            rule::kUnequalOperands);
      }
      if (dims_[dim].empty()) {
        dims_[dim] = axes;
        split_by_[dim] = index;
      }
    }
  }
  return {};
}

Result<void> ElementwisePlanner::refuse_double_use() {
  for (size_t dim = 0; dim < dims_.size(); ++dim) {
    for (size_t other = 0; other < dim; ++other) {
      for (const std::string& axis : dims_[dim]) {
        if (std::find(dims_[other].begin(), dims_[other].end(), axis) != dims_[other].end()) {
          return specs_.error(concat("the result would be split over ",
                                     axis,
                                     " on dim ",
                                     other,
                                     " as ",
                                     specs_.name(split_by_[other]),
                                     " and on dim ",
                                     dim,
                                     " as ",
                                     specs_.name(split_by_[dim]),
                                     "; reshard one of them"),
                              rule::kUnequalOperands);
        }
      }
    }
  }
  return {};
}

Result<void> ElementwisePlanner::choose_unreduced() {
  for (const TensorType& operand : operands_) {
    if (!operand.spec.unreduced().empty()) {
      unreduced_ = operand.spec.unreduced();
      break;
    }
  }
  if (unreduced_.empty()) {
    return {};
  }
  switch (algebra_) {
    case Algebra::kSum: return check_equal_terms(0);
    case Algebra::kProduct:
    case Algebra::kQuotient: return check_scaled_terms();
    case Algebra::kChoice: {
      Result<void> mask = check_mask();
      return mask ? check_equal_terms(1) : mask;
    }
    case Algebra::kOther:
    case Algebra::kTest: break;
  }
  return specs_.check(false);
}

Result<void> ElementwisePlanner::check_equal_terms(size_t first) const {
  for (size_t index = first; index < operands_.size(); ++index) {
    if (operands_[index].spec.unreduced() != unreduced_) {
      return specs_.error(concat("all operands must be unreduced over the same axes, here ",
                                 join(unreduced_),
                                 "; ",
                                 specs_.name(index),
                                 " is not; reshard it, or finish the sums first"),
                          rule::kUnreduced);
    }
  }
  return {};
}

// The same terms must be chosen on all ranks that hold terms of one sum.
Result<void> ElementwisePlanner::check_mask() const {
  for (const std::string& axis : unreduced_) {
    const AxisState state = operands_[0].spec.state(axis);
    if (state == AxisState::kSharded || state == AxisState::kUnreduced) {
      return specs_.error(concat(specs_.name(0),
                                 " must be equal on all ranks of ",
                                 axis,
                                 ", over which the choices are unreduced; reshard it, or finish "
                                 "the sums first"),
                          rule::kUnreduced);
    }
  }
  return {};
}

// A sum times a factor is the sum of the terms times the factor, if all ranks have the same factor
// and its gradient is a sum over ranks too: reduced.
Result<void> ElementwisePlanner::check_scaled_terms() const {
  size_t sums = 0;
  for (size_t index = 0; index < operands_.size(); ++index) {
    sums += operands_[index].spec.unreduced().empty() ? 0U : 1U;
    if (!operands_[index].spec.unreduced().empty() &&
        (sums > 1 || (algebra_ == Algebra::kQuotient && index > 0))) {
      return specs_.error(concat(specs_.name(index),
                                 " is unreduced; only one factor or the numerator may be; "
                                 "reshard it to finish the sum"),
                          rule::kUnreduced);
    }
  }
  for (size_t index = 0; index < operands_.size(); ++index) {
    const PartitionSpec& spec = operands_[index].spec;
    for (const std::string& axis : unreduced_) {
      if (spec.unreduced().empty() && spec.state(axis) != AxisState::kReduced) {
        return specs_.error(concat("beside an operand unreduced over ",
                                   join(unreduced_),
                                   ", ",
                                   specs_.name(index),
                                   " should be reduced along the same axes; reshard it, or finish "
                                   "the sum first"),
                            rule::kUnreduced);
      }
    }
  }
  return {};
}

Result<void> ElementwisePlanner::slice_whole_operands() {
  for (size_t dim = 0; dim < dims_.size(); ++dim) {
    for (size_t index = 0; index < operands_.size() && !dims_[dim].empty(); ++index) {
      const int64_t own = own_dim(index, dim);
      if (own < 0 || own_size(index, dim) != global_[dim] || !own_axes(index, dim).empty()) {
        continue;
      }
      if (Result<void> done = specs_.slice(index, static_cast<size_t>(own), dims_[dim]); !done) {
        return done;
      }
    }
  }
  return {};
}

Result<OpPlan> ElementwisePlanner::finish() {
  Result<AxisNames> reduced = specs_.settle_copies(unreduced_, algebra_ != Algebra::kTest);
  if (!reduced) {
    return fail(reduced.error());
  }
  Result<std::vector<Casts>> casts = specs_.casts();
  if (!casts) {
    return fail(casts.error());
  }
  OpPlan plan;
  plan.inputs = std::move(*casts);
  plan.local_result = {
      algebra_ == Algebra::kTest ? DType::kBool : dtype_,
      global_,
      PartitionSpec(dims_).with_unreduced(unreduced_).with_reduced(std::move(*reduced))};
  plan.reason = concat(op_, ": operands beside one that is split");
  return plan;
}

}  // namespace

Result<OpPlan> plan_elementwise(const mesh::Mesh& mesh,
                                std::string_view op,
                                std::span<const TensorType> operands,
                                Algebra algebra) {
  return ElementwisePlanner(mesh, op, operands, algebra).plan();
}

}  // namespace brigade::sharding
