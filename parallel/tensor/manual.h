// SPDX-License-Identifier: Apache-2.0
/// Manual: the named collectives of a shard_map body, where values are plain local tensors.
///
///   at::Tensor body(Manual& ranks, const at::Tensor& rows) {
///     return ranks.psum(rows.sum(), {"data"});
///   }
///
/// Each rank's value is a variable of its own and a collective is a linear map of all of them; its
/// backward is the transpose of that map, so gradients need no divisor:
///
///   psum          y_i = sum of all x                            transpose: psum
///   all_gather    y_i = x of all, one behind the other in dim   transpose: psum_scatter
///   psum_scatter  y_i = part i in dim of the sum of all x       transpose: all_gather
///   ppermute      y_d = x_s for each pair (s, d), else zeros    transpose: ppermute, pairs turned
///   all_to_all    y_i = part i in split_dim of all x, one       transpose: all_to_all, dims
///                 behind the other in concat_dim                           exchanged
///   pmax, pmin    element by element                            none: backward through one throws
///
/// Axes: several count as one whose first is major; index i runs along them.
/// Sizes: x has one shape on all ranks of the group, but for the dim that is gathered. Parts of a
///        dim are its floor intervals (sharding/interval.h), so a dim need not divide; where what
///        is gathered does not, say how long the whole is.
///
/// Collective:    over the axes; in the same order on all ranks of the group, forward and backward.
/// Ledger:        one entry each, reason "shard_map: psum" and so on, forward and backward.
/// Errors:        kType for an unknown axis, a dim out of range, a part of another size; the
///                communicator's. Thrown as Exception.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "parallel/mesh/mesh.h"
#include "parallel/tensor/program.h"

namespace brigade::tensor {

/// Who sends to whom: source and destination, as indices along the axes.
using Pairs = std::vector<std::pair<int64_t, int64_t>>;

class Manual {
 public:
  explicit Manual(Program& program) : program_(program) {}

  Program& program() const { return program_; }

  int64_t axis_index(const mesh::AxisNames& axes) const;
  int64_t axis_size(const mesh::AxisNames& axes) const;

  at::Tensor psum(const at::Tensor& x, const mesh::AxisNames& axes) const;
  at::Tensor pmax(const at::Tensor& x, const mesh::AxisNames& axes) const;
  at::Tensor pmin(const at::Tensor& x, const mesh::AxisNames& axes) const;

  /// tiled: `dim` grows to the whole. Else the pieces are stacked along a new dim `dim`.
  /// `whole`: the length of `dim` over all ranks, where it is not axis_size times the local one.
  at::Tensor all_gather(const at::Tensor& x,
                        const mesh::AxisNames& axes,
                        int64_t dim = 0,
                        bool tiled = true,
                        std::optional<int64_t> whole = {}) const;

  /// tiled: `dim` shrinks to this rank's part. Else `dim`, of axis_size elements, disappears.
  at::Tensor psum_scatter(const at::Tensor& x,
                          const mesh::AxisNames& axes,
                          int64_t dim = 0,
                          bool tiled = true) const;

  /// Sources and destinations are each named at most once; who is no destination gets zeros.
  at::Tensor ppermute(const at::Tensor& x, const mesh::AxisNames& axes, const Pairs& pairs) const;

  /// Splits `split_dim` over the ranks and joins what arrives along `concat_dim`, another dim.
  /// `whole`: the length of `concat_dim` over all ranks, where it is not axis_size times the local
  /// one.
  at::Tensor all_to_all(const at::Tensor& x,
                        const mesh::AxisNames& axes,
                        int64_t split_dim,
                        int64_t concat_dim,
                        std::optional<int64_t> whole = {}) const;

 private:
  Program& program_;
};

}  // namespace brigade::tensor
