// SPDX-License-Identifier: Apache-2.0
/// Permutes: axes that split dims trade places, all in one cast (CastKind::kPermute).
///
///   [x;y] -> [y;x]            rank (a, b) sends its box to rank (b, a)
///   [y] -> slice x -> [y,x] -> permute -> [x,y]
///
/// The axes that move hold one region of the tensor before and after, each rank of their group a
/// box of it, so every element has one owner before and one after, and no rank receives more than
/// its new box. Only on dims that divide evenly. Part of planning reshards.
#pragma once

#include <optional>
#include <vector>

#include "parallel/mesh/mesh.h"
#include "parallel/sharding/op_plan.h"

namespace brigade::sharding {

/// The axes that split another dim, or another place of the same, in `to`; in mesh order. Both
/// specs split dims over the same axes.
AxisNames permuted_axes(const mesh::Mesh& mesh, const PartitionSpec& from, const PartitionSpec& to);

/// The share of a tensor's elements that changes ranks.
double permuted_share(const mesh::Mesh& mesh, const PartitionSpec& from, const PartitionSpec& to);

/// Elements that the members of `rank`'s group receive from one another.
int64_t permuted_elements(const mesh::Mesh& mesh,
                          const TensorType& from,
                          const CastStep& step,
                          int64_t rank);

/// How a permute can set all dims right.
struct Arrangement {
  std::vector<PartitionSpec::Dim> before;  ///< today's dims, with the axes that join them first
  std::vector<PartitionSpec::Dim> after;   ///< the target's, with the axes that leave as minor ones
};

/// The arrangement that moves the least; nothing if every dim is right already, but for axes that
/// leave it, or if a dim that changes does not divide evenly. `whole_boxes`: every dim keeps its
/// number of parts, so that boxes move whole.
/// Cost: tries every place for the axes that join or leave while these are few, else one.
std::optional<Arrangement> find_arrangement(const mesh::Mesh& mesh,
                                            const TensorType& from,
                                            const PartitionSpec& to,
                                            bool whole_boxes);

}  // namespace brigade::sharding
