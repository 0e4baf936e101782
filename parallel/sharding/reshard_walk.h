// SPDX-License-Identifier: Apache-2.0
/// ReshardWalk: one way from a type to a spec, cast by cast. plan_reshard takes the cheapest of a
/// few.
///
/// The nested floor intervals decide what is possible: an axis joins a dim only as its new minor
/// axis and leaves it only while it is the minor one. So a dim first loses what lies beyond the
/// prefix that it shares with the target, then gains the rest in the target's order. A permute
/// alone sets all dims right in one cast (permute.h).
#pragma once

#include <vector>

#include "parallel/mesh/mesh.h"
#include "parallel/sharding/op_plan.h"

namespace brigade::sharding {

/// In what order, where there is a choice. Otherwise: slices, reductions, permutes of
/// whole boxes, all-to-alls, gathers.
struct ReshardOrder {
  bool reduce_early = false;  ///< all-reduces a sum that could only be scattered after a gather
  bool place_late = false;  ///< gathers first what a place (free, but it grows the box) could free
  bool permute = false;     ///< lets axes trade places at once rather than gathers some for now
  bool plain = false;       ///< gather, then slice: the bound on the bytes of all others
};

class ReshardWalk {
 public:
  /// Every axis must have a way (plan_reshard checks), both specs must be legal on `mesh`.
  ReshardWalk(const mesh::Mesh& mesh,
              const TensorType& from,
              const PartitionSpec& to,
              ReshardOrder order);

  Casts take() &&;

 private:
  struct Run {
    size_t dim;
    AxisNames axes;
    AxisState state;
  };

  // Each does one cast if it applies and says whether it did.
  bool step();
  bool slice();
  bool reduce_scatter();
  bool all_reduce();
  bool mark_reduced();
  bool all_to_all();
  bool permute(bool whole_boxes);
  bool gather_for_good();
  bool place();
  bool gather_for_now();
  bool keep_first();

  /// What may join a dim next: the longest run of axes in one state.
  Run next_arrivals(size_t dim) const;
  /// The leading axes in the state of the first.
  AxisNames alike(AxisNames axes) const;
  /// Number of leading axes that a dim has already right.
  size_t settled(size_t dim) const;
  bool leaves(size_t dim) const;
  /// The minor axes of a dim that leave it into the state of its minor one.
  Run next_leavers(size_t dim) const;
  bool divides(size_t dim, const AxisNames& axes) const;
  bool exchange(size_t from_dim, size_t to_dim);
  AxisNames axes_between(AxisState now, bool (*wanted)(AxisState)) const;

  void record(CastKind kind, AxisNames axes, int64_t dim = -1, int64_t to_dim = -1);
  void merge_gathers();

  const mesh::Mesh& mesh_;
  TensorType type_;
  PartitionSpec to_;
  ReshardOrder order_;
  Casts steps_;
};

}  // namespace brigade::sharding
