// SPDX-License-Identifier: Apache-2.0
/// Placement: where a parameter is used and where it is stored. The ZeRO stage is nothing but a
/// choice of stored specs.
///
///   stage 0   weight, gradient and states: as used, a full copy per data rank
///   stage 1   states and update on the shard over dp_shard; weight and gradient as used
///
/// ZeRO shards dim 0 further: a dim split over tp becomes split over (tp, dp_shard), so the shard
/// is a run of rows of the used box, for sizes that divide and for sizes that do not
/// (sharding/interval.h).
///
/// A parameter may be used by parts over further axes: a norm's gain whose rows are split over tp
/// along the sequence sees a part of the tokens on each rank. It is Reduced over those axes as
/// well, and its gradient is summed over them.
#pragma once

#include <map>
#include <string>

#include "parallel/mesh/mesh.h"
#include "parallel/sharding/named_sharding.h"
#include "parallel/sharding/parameter_facts.h"

namespace brigade::zero {

/// Mesh axes per logical axis of a parameter: {"vocab": {"tp"}, "mlp": {"tp"}, ...}; axes that are
/// not listed are not split.
using AxisRules = std::map<std::string, mesh::AxisNames>;

struct DataAxes {
  mesh::AxisNames replicate;  ///< copies of everything: {"dp_replicate"}
  mesh::AxisNames shard;      ///< what ZeRO shards over: {"dp_shard"}
};

struct Placement {
  /// Of the weight in forward and backward: split by the rules, Reduced over the data axes.
  sharding::NamedSharding used;
  /// The rows that this rank reduces, measures and updates: used, further over data.shard. A scalar
  /// has no dim to split and keeps its used spec; shard_rows() still gives it to one member.
  sharding::NamedSharding shard;
  mesh::AxisNames shard_axes;  ///< data.shard
  /// Over which the gradients of equal shards are terms of one sum: data.replicate and the axes of
  /// use by parts, of sizes above 1, in mesh order.
  mesh::AxisNames sum_axes;

  /// Rows [begin, end) of the used box's dim 0 that data-shard member `member` holds, seen from
  /// `rank`. A scalar or 1-D tensor counts its elements as rows.
  sharding::Interval shard_rows(const sharding::Shape& global, int64_t rank, int64_t member) const;

  /// Several ranks may hold equal shards, along axes that split nothing. True on exactly one of
  /// them: the one that counts in sums over all ranks.
  bool is_first_copy(int64_t rank) const;
};

/// `parts`: over which mesh axes a parameter with such a logical axis is used by parts.
/// Errors: kUsage for an axis that would split two dims of the parameter, naming both, or split a
/// dim and share its tokens or data as well; the spec's for an axis that the mesh lacks.
Result<Placement> place(const mesh::Mesh& mesh,
                        const sharding::ParameterFacts& facts,
                        const AxisRules& rules,
                        const DataAxes& data,
                        const AxisRules& parts = {});

}  // namespace brigade::zero
