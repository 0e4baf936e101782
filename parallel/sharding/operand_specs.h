// SPDX-License-Identifier: Apache-2.0
/// OperandSpecs: what an op casts its operands to; the part of planning that all ops share.
///
/// A planner first decides the dims (slices, gathers), then settle_copies() decides the copies, per
/// mesh axis. An axis *varies* when some operand is split over it: every rank then computes
/// something of its own, so the gradient of an operand that is equal on all ranks is a sum over
/// them. Hence
///
///   varies       replicated operands pass kMarkReduced (forward free, backward all-reduce);
///                reduced operands pass free, their gradient being unreduced by definition;
///   none varies  all replicated: the result is replicated; all reduced: the result is reduced;
///                a mix is an error: the two would be owed different gradients.
///
/// Integers and masks are owed no gradient: their copies fit any others and are never marked.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/base/result.h"
#include "parallel/mesh/mesh.h"
#include "parallel/sharding/op_plan.h"

namespace brigade::sharding {

class OperandSpecs {
 public:
  /// `op` begins all messages: "einsum bsd,hd->bsh". The operands outlive this object.
  OperandSpecs(const mesh::Mesh& mesh, std::string op, std::span<const TensorType> operands);

  /// Every spec is legal on the mesh and nothing is unreduced unless `unreduced_allowed`, and then
  /// only terms of `kind`.
  Result<void> check(bool unreduced_allowed, Reduction kind = Reduction::kSum) const;

  const TensorType& operand(size_t index) const { return operands_[index]; }
  const PartitionSpec& spec(size_t index) const { return specs_[index]; }
  /// "operand 1 f32[8@x,4]".
  std::string name(size_t index) const;

  /// Splits a dim that is not split, over axes that are replicated or reduced.
  Result<void> slice(size_t index, size_t dim, const AxisNames& axes);
  /// Leaves the first `keep` axes on a dim. Which copies the others give, settle_copies decides.
  void gather(size_t index, size_t dim, size_t keep);

  /// The rule above, for the axes not in `unreduced`; returns the axes over which the result is
  /// reduced. `gradients`: whether the result passes any to the operands; if not, all copies fit.
  Result<AxisNames> settle_copies(const AxisNames& unreduced, bool gradients = true);

  bool splits(size_t index, std::string_view axis) const;
  Result<std::vector<Casts>> casts() const;

  /// kType: "<op>: <text>"; `rule` is a name of type_rule.h.
  tl::unexpected<Error> error(std::string_view text, std::string_view rule = {}) const;

 private:
  bool varies(std::string_view axis) const;
  bool gathered(size_t index, std::string_view axis) const;
  Result<bool> settle_axis(const std::string& axis);

  const mesh::Mesh& mesh_;
  std::string op_;
  std::span<const TensorType> operands_;
  std::vector<PartitionSpec> specs_;
};

}  // namespace brigade::sharding
