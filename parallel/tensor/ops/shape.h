// SPDX-License-Identifier: Apache-2.0
/// Ops that rearrange a tensor: reshape, transpose, broadcast, concatenate, slice, pad and kin.
///
///   ShardedTensor heads = reshape(x, {batch, length, 8, 64});  // [B@data, S, 512]
///   ShardedTensor whole = reshape(y, {4, 3, 2, 8}, out);       // may gather what is in the way
///
/// Shape:      given with each op, S of a dim being its size in the whole tensor.
/// Collective: only where `out` of reshape or broadcast_to asks for it, and pad on a split dim;
///             each is in the ledger.
/// Cost:       views or local copies otherwise.
/// Errors:     kType naming the operand's type, the dim and what would work: `out`, reshard or
///             shard_map (sharding/shape_plan.h). Thrown as Exception.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "parallel/sharding/shape_plan.h"
#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

/// [S...] -> `shape`, of as many elements, in row-major order of the whole tensor. Without `out`:
/// one dim in several or several in one, where the shards line up.
ShardedTensor reshape(const ShardedTensor& x,
                      const sharding::Shape& shape,
                      const std::optional<sharding::PartitionSpec>& out = {});

/// Dim i of the result is dim `permutation[i]` of x.
ShardedTensor transpose(const ShardedTensor& x, const std::vector<int64_t>& permutation);

/// [.., ..] -> [.., 1, ..]: a new dim before dim `dim`, or last.
ShardedTensor expand_dims(const ShardedTensor& x, int64_t dim);

/// [.., 1, ..] -> [.., ..]: without dim `dim`.
ShardedTensor squeeze(const ShardedTensor& x, int64_t dim);

/// [S...] -> [N..., S...]: new leading dims, and dims of size 1 repeated. New dims are whole or
/// split as `out` says; x Reduced over such an axis gives a plain result, and has an unreduced
/// gradient.
ShardedTensor broadcast_to(const ShardedTensor& x,
                           const sharding::Shape& shape,
                           const std::optional<sharding::PartitionSpec>& out = {});

/// [.., S_i, ..]... -> [.., sum of S_i, ..] along a whole dim; equal specs.
ShardedTensor concatenate(const std::vector<ShardedTensor>& tensors, int64_t dim);

/// n of [..] -> [.., n, ..], the new dim before dim `dim`, or last; equal types.
ShardedTensor stack(const std::vector<ShardedTensor>& tensors, int64_t dim);

/// Elements [begin, end) of a whole dim.
ShardedTensor slice(const ShardedTensor& x, int64_t dim, int64_t begin, int64_t end);

/// Consecutive slices of the given sizes, which add up to the dim's.
std::vector<ShardedTensor> split(const ShardedTensor& x,
                                 const std::vector<int64_t>& sizes,
                                 int64_t dim);

/// [.., S, ..] -> [.., low + S + (S - 1) * interior + high, ..], the elements added being `value`.
/// A split dim is gathered and sliced again, and its old and new size must divide.
ShardedTensor pad(const ShardedTensor& x,
                  int64_t dim,
                  const sharding::Padding& padding,
                  double value = 0);

}  // namespace brigade::tensor
