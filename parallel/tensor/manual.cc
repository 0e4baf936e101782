// SPDX-License-Identifier: Apache-2.0
// A manual collective is the cast that moves the same bytes, on the type that its operand would
// have were the other dims not split: psum is U -> R, all_gather is S -> R, and so on (move.h).
#include "parallel/tensor/manual.h"

#include <set>
#include <string>

#include <ATen/ATen.h>

#include "parallel/base/text.h"
#include "parallel/sharding/named_sharding.h"
#include "parallel/sharding/type_rule.h"
#include "parallel/tensor/boundary.h"
#include "parallel/tensor/buffers.h"
#include "parallel/tensor/manual_node.h"

namespace brigade::tensor {
namespace {

using mesh::AxisNames;
using sharding::CastKind;
using sharding::PartitionSpec;
using sharding::Reduction;
using sharding::Shape;
using sharding::TensorType;

[[noreturn]] void refuse(const std::string& what,
                         std::string_view rule = sharding::rule::kBoundary) {
  refuse_at_boundary(rule, concat("shard_map: ", what));
}

void check_axes(const Program& program, std::string_view op, const AxisNames& axes) {
  std::set<std::string> seen;
  for (const std::string& axis : axes) {
    if (!program.mesh().has_axis(axis)) {
      refuse(concat(op,
                    " over \"",
                    axis,
                    "\": the mesh ",
                    program.mesh().to_string(),
                    " has no such axis"),
             sharding::rule::kUnknownAxis);
    }
    if (!seen.insert(axis).second) {
      refuse(concat(op, " names the axis \"", axis, "\" twice"), sharding::rule::kAxisTwice);
    }
  }
  if (axes.empty()) {
    refuse(concat(op, " names no axis"));
  }
}

/// `dim` counted from the front.
int64_t wrapped(std::string_view op, int64_t dim, int64_t dims) {
  if (dim < -dims || dim >= dims) {
    refuse(concat(op, ": dim ", dim, " of a tensor of ", dims, " dims"));
  }
  return dim < 0 ? dim + dims : dim;
}

TensorType type_of(const at::Tensor& x, const PartitionSpec& spec) {
  return {dtype_of(x), x.sizes().vec(), spec};
}

PartitionSpec split(int64_t dim, const AxisNames& axes) {
  return PartitionSpec().with_dim(static_cast<size_t>(dim), axes);
}

/// The type of a piece whose `dim` is this rank's part of `whole`; refused if it is not.
TensorType gathered_type(const Program& program,
                         std::string_view op,
                         const at::Tensor& x,
                         const AxisNames& axes,
                         int64_t dim,
                         std::optional<int64_t> whole) {
  TensorType type = type_of(x, split(dim, axes));
  int64_t& size = type.global[static_cast<size_t>(dim)];
  size = whole.value_or(size * program.mesh().axes_size(axes));
  const Shape wanted = local_shape(program, type);
  if (x.sizes() != at::IntArrayRef(wanted)) {
    refuse(concat(op,
                  " over \"",
                  join(axes),
                  "\": rank ",
                  program.rank(),
                  " holds ",
                  x.size(dim),
                  " of dim ",
                  dim,
                  "; its part of ",
                  size,
                  " is ",
                  wanted[static_cast<size_t>(dim)]));
  }
  return type;
}

at::Tensor extreme(Program& program,
                   std::string_view op,
                   const at::Tensor& x,
                   const AxisNames& axes,
                   Reduction reduction) {
  check_axes(program, op, axes);
  const TensorType terms = type_of(x, PartitionSpec().with_unreduced(axes, reduction));
  const TensorType all = type_of(x, PartitionSpec());
  return manual_extreme(
      program, op, x, {terms, {CastKind::kAllReduce, axes, -1, -1, all, reduction}});
}

}  // namespace

int64_t Manual::axis_index(const AxisNames& axes) const {
  check_axes(program_, "axis_index", axes);
  return program_.mesh().flattened_index(program_.rank(), axes);
}

int64_t Manual::axis_size(const AxisNames& axes) const {
  check_axes(program_, "axis_size", axes);
  return program_.mesh().axes_size(axes);
}

at::Tensor Manual::psum(const at::Tensor& x, const AxisNames& axes) const {
  check_axes(program_, "psum", axes);
  const TensorType terms = type_of(x, PartitionSpec().with_unreduced(axes));
  const ManualMove sum{terms, {CastKind::kAllReduce, axes, -1, -1, type_of(x, PartitionSpec())}};
  return manual_move(program_, "psum", x, sum, sum);
}

at::Tensor Manual::pmax(const at::Tensor& x, const AxisNames& axes) const {
  return extreme(program_, "pmax", x, axes, Reduction::kMax);
}

at::Tensor Manual::pmin(const at::Tensor& x, const AxisNames& axes) const {
  return extreme(program_, "pmin", x, axes, Reduction::kMin);
}

at::Tensor Manual::all_gather(const at::Tensor& x,
                              const AxisNames& axes,
                              int64_t dim,
                              bool tiled,
                              std::optional<int64_t> whole) const {
  check_axes(program_, "all_gather", axes);
  if (!tiled) {
    const int64_t at = wrapped("all_gather", dim, x.dim() + 1);
    return all_gather(x.unsqueeze(at), axes, at, true, {});
  }
  const int64_t at = wrapped("all_gather", dim, x.dim());
  const TensorType piece = gathered_type(program_, "all_gather", x, axes, at, whole);
  const TensorType all{piece.dtype, piece.global, PartitionSpec()};
  const TensorType terms{piece.dtype, piece.global, PartitionSpec().with_unreduced(axes)};
  return manual_move(program_,
                     "all_gather",
                     x,
                     {piece, {CastKind::kGather, axes, at, -1, all}},
                     {terms, {CastKind::kReduceScatter, axes, at, -1, piece}});
}

at::Tensor Manual::psum_scatter(const at::Tensor& x,
                                const AxisNames& axes,
                                int64_t dim,
                                bool tiled) const {
  check_axes(program_, "psum_scatter", axes);
  const int64_t at = wrapped("psum_scatter", dim, x.dim());
  if (!tiled) {
    if (x.size(at) != axis_size(axes)) {
      refuse(concat("psum_scatter without tiles: dim ",
                    at,
                    " has ",
                    x.size(at),
                    " elements, expected one for each of ",
                    axis_size(axes),
                    " ranks"));
    }
    return psum_scatter(x, axes, at, true).squeeze(at);
  }
  const TensorType terms = type_of(x, PartitionSpec().with_unreduced(axes));
  const TensorType piece = type_of(x, split(at, axes));
  const TensorType all = type_of(x, PartitionSpec());
  return manual_move(program_,
                     "psum_scatter",
                     x,
                     {terms, {CastKind::kReduceScatter, axes, at, -1, piece}},
                     {piece, {CastKind::kGather, axes, at, -1, all}});
}

at::Tensor Manual::ppermute(const at::Tensor& x, const AxisNames& axes, const Pairs& pairs) const {
  check_axes(program_, "ppermute", axes);
  const int64_t ranks = program_.mesh().axes_size(axes);
  std::set<int64_t> sources;
  std::set<int64_t> destinations;
  for (const auto& [source, destination] : pairs) {
    const std::string pair = concat("ppermute: the pair (", source, ", ", destination, ")");
    if (std::min(source, destination) < 0 || std::max(source, destination) >= ranks) {
      refuse(concat(pair, " leaves the ", ranks, " ranks of \"", join(axes), "\""));
    }
    if (!sources.insert(source).second || !destinations.insert(destination).second) {
      refuse(concat(pair, " names a source or a destination for the second time"));
    }
  }
  return manual_permute(program_, axes, x, pairs);
}

at::Tensor Manual::all_to_all(const at::Tensor& x,
                              const AxisNames& axes,
                              int64_t split_dim,
                              int64_t concat_dim,
                              std::optional<int64_t> whole) const {
  check_axes(program_, "all_to_all", axes);
  const int64_t from = wrapped("all_to_all", concat_dim, x.dim());
  const int64_t to = wrapped("all_to_all", split_dim, x.dim());
  if (from == to) {
    refuse(concat("all_to_all splits and joins dim ", to, "; expected two different dims"));
  }
  const TensorType before = gathered_type(program_, "all_to_all", x, axes, from, whole);
  const TensorType after{before.dtype, before.global, split(to, axes)};
  return manual_move(program_,
                     "all_to_all",
                     x,
                     {before, {CastKind::kAllToAll, axes, from, to, after}},
                     {after, {CastKind::kAllToAll, axes, to, from, before}});
}

}  // namespace brigade::tensor
