// SPDX-License-Identifier: Apache-2.0
/// What an op does to types: casts of its inputs, the type of its local result, casts of its output
/// - and why.
///
/// Pure functions of types, no tensors, no ranks: the same on all ranks, so all ranks issue the
/// same collectives. The tensor layer runs a plan as [input casts] + local op + [output casts] and
/// memoises it by (op, types).
///
/// Casts, state on one set of axes before -> after; forward / backward (JAX's explicit sharding,
/// doc 301/sharding-ad):
///
///   kSlice          R -> S      local slice      / all-gather
///   kGather         S -> R      all-gather       / local slice
///   kGatherReduced  S -> Rd     all-gather       / reduce-scatter
///   kSliceReduced   Rd -> S     local slice      / place in zeros
///   kMarkReduced    R -> Rd     free             / all-reduce
///   kAllReduce      U -> R      all-reduce       / free
///   kReduceScatter  U -> S      reduce-scatter   / all-gather
///   kKeepFirst      R -> U      rank 0's alone   / free
///   kPlace          S -> U      place in zeros   / local slice
///   kAllToAll       S@i -> S@j  all-to-all       / all-to-all
///   kPermute        S -> S      permute          / the inverse permute
///
/// A permute lets several axes trade places among the dims at once. Where every dim keeps its
/// number of parts it is a collective-permute: each rank's box goes whole to the one rank that
/// needs it. Otherwise, axes of different sizes having changed places, each rank's box goes in
/// pieces. Mesh axes have no sub-axes that could split this into a permute and an all-to-all, and
/// none are missed: no rank receives more than its own new box.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/base/result.h"
#include "parallel/mesh/mesh.h"
#include "parallel/sharding/tensor_type.h"

namespace brigade::sharding {

enum class CastKind {
  kSlice,
  kGather,
  kGatherReduced,
  kSliceReduced,
  kMarkReduced,
  kAllReduce,
  kReduceScatter,
  kKeepFirst,
  kPlace,
  kAllToAll,
  kPermute,
};

std::string_view to_string(CastKind kind);

/// One cast on one set of axes.
struct CastStep {
  CastKind kind = CastKind::kSlice;
  AxisNames axes;       ///< major first
  int64_t dim = -1;     ///< the dim that is split before or after; -1 for casts that split none
                        ///< or, a permute, several
  int64_t to_dim = -1;  ///< kAllToAll: the dim split afterwards
  TensorType to;        ///< the type after this step
  Reduction reduction = Reduction::kSum;  ///< kAllReduce, kReduceScatter: how terms are joined

  bool operator==(const CastStep&) const = default;
};

using Casts = std::vector<CastStep>;

struct OpPlan {
  std::vector<Casts> inputs;  ///< one list per operand, often empty
  TensorType local_result;    ///< what the local op makes of the cast operands
  Casts output;               ///< from local_result to the asked type
  std::string reason;         ///< for the ledger: "einsum bsd,hd->bsh: contracting index d is ..."

  const TensorType& result() const { return output.empty() ? local_result : output.back().to; }
};

/// Steps from one type to another of equal shape and dtype. Never more bytes than
/// gather-then-slice. Where dims divide evenly, axes change dims or their order by all-to-alls and
/// permutes; an uneven dim is gathered and sliced instead.
/// Errors: kType when no rule leads there: an unreduced sum cannot be made of a reduced value, say,
///         and terms of a maximum can be made of nothing and joined by nothing but a maximum.
Result<Casts> plan_reshard(const mesh::Mesh& mesh, const TensorType& from, const PartitionSpec& to);

/// Any two-operand einsum with single-letter indices, no repeated index within an operand and no
/// ellipsis. Batch and free dims carry their sharding to the result; a batch dim that one operand
/// does not split is sliced as the other's.
///
/// Contraction over equal axes on both sides (or of an index that one operand alone has) leaves one
/// term of a sum per rank: `out` must say what becomes of it - unreduced, all-reduced by not naming
/// the axes, or reduce-scattered to a dim.
///
/// Contraction split on one side gathers that operand, as a weight stored in shards is gathered
/// before use. Which copies it becomes, per axis: where the other operand is split over the axis
/// (the batch, say) each rank multiplies the weight by data of its own, its gradient is a term of a
/// sum, and the weight becomes Reduced (backward: reduce-scatter). Where nothing is split over it,
/// all ranks compute the same gradient, and it becomes Replicated (backward: slice).
///
/// One axis on two dims of the result is an error, unless `out` keeps it on one: then the operand
/// with the other dim is gathered, by the same rule. Where an axis is split in one operand,
/// replicated ones pass kMarkReduced and reduced ones pass free (operand_specs.h).
///
/// Errors: kType naming the operands, the index, the axes, and `out=` or `reshard`.
Result<OpPlan> plan_einsum(const mesh::Mesh& mesh,
                           std::string_view equation,
                           const TensorType& a,
                           const TensorType& b,
                           std::optional<PartitionSpec> out);

}  // namespace brigade::sharding
