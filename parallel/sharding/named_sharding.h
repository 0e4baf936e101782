// SPDX-License-Identifier: Apache-2.0
/// NamedSharding: a spec on a mesh; says which box of a tensor each rank holds.
///
///   NamedSharding s = value_or_throw(NamedSharding::create(mesh, PartitionSpec({{"data"}, {}})));
///   s.local_shape({8, 4}, rank);    // {2, 4} on a data axis of 4
///   s.box({8, 4}, rank);            // rows [2, 4) on the second
///   s.replica_id(rank);             // numbers the copies of one box; exactly one is 0
#pragma once

#include <cstdint>
#include <string>

#include "parallel/base/result.h"
#include "parallel/mesh/mesh.h"
#include "parallel/sharding/interval.h"
#include "parallel/sharding/partition_spec.h"

namespace brigade::sharding {

struct NamedSharding {
  mesh::Mesh mesh;
  PartitionSpec spec;

  /// Errors: as PartitionSpec::check, without a limit on the dims.
  static Result<NamedSharding> create(mesh::Mesh mesh, PartitionSpec spec);

  Shape local_shape(const Shape& global, int64_t rank) const;
  Box box(const Shape& global, int64_t rank) const;

  /// Index among the ranks that hold the same box. Unreduced ranks hold different terms of the same
  /// box and are numbered along with the copies.
  int64_t replica_id(int64_t rank) const;

  /// A drawing for rank 1 and 2 (cells with the ranks that hold them), a table for others. Plain
  /// text.
  std::string picture(const Shape& global) const;

  bool operator==(const NamedSharding&) const = default;
};

}  // namespace brigade::sharding
