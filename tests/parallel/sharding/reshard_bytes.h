// SPDX-License-Identifier: Apache-2.0
/// What reshards cost, counted apart from the planner: over how sizes change, and a bound.
#pragma once

#include <algorithm>
#include <string>

#include "parallel/sharding/op_plan.h"
#include "tests/parallel/sharding/simulated.h"

namespace brigade::sharding {

inline double average_elements(const mesh::Mesh& mesh, const TensorType& type) {
  double elements = 1;
  for (size_t dim = 0; dim < type.global.size(); ++dim) {
    elements *= static_cast<double>(type.global[dim]) /
                static_cast<double>(mesh.axes_size(type.spec.dim(dim)));
  }
  return elements;
}

/// The share of all ranks' new boxes that was not in their old ones.
inline double share_from_others(const mesh::Mesh& mesh,
                                const TensorType& from,
                                const TensorType& to) {
  int64_t kept = 0;
  int64_t all = 0;
  for (int64_t rank = 0; rank < mesh.size(); ++rank) {
    const Box old = NamedSharding{mesh, from.spec}.box(from.global, rank);
    const Box now = NamedSharding{mesh, to.spec}.box(to.global, rank);
    kept += overlap(old, now).element_count();
    all += now.element_count();
  }
  return all == 0 ? 0 : 1 - static_cast<double>(kept) / static_cast<double>(all);
}

/// Elements that a rank receives, on average.
inline double received(const mesh::Mesh& mesh, TensorType from, const Casts& casts) {
  double sum = 0;
  for (const CastStep& step : casts) {
    const double before = average_elements(mesh, from);
    const double after = average_elements(mesh, step.to);
    const double others = 1 - 1 / static_cast<double>(mesh.axes_size(step.axes));
    if (step.kind == CastKind::kGather || step.kind == CastKind::kGatherReduced) {
      sum += after * others;
    } else if (step.kind == CastKind::kReduceScatter || step.kind == CastKind::kAllToAll) {
      sum += before * others;
    } else if (step.kind == CastKind::kAllReduce) {
      sum += 2 * before * others;
    } else if (step.kind == CastKind::kPermute) {
      sum += before * share_from_others(mesh, from, step.to);
    }
    from = step.to;
  }
  return sum;
}

inline size_t common_prefix(const AxisNames& a, const AxisNames& b) {
  const auto end = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
  return static_cast<size_t>(end - a.begin());
}

/// The bound: all-reduce at the start's size, then all that is not in place gathered, then free
/// slices. What becomes unreduced is placed, free, as late as can be.
inline double gather_then_slice(const mesh::Mesh& mesh,
                                const TensorType& from,
                                const PartitionSpec& to) {
  AxisNames finished;
  for (const std::string& axis : from.spec.unreduced()) {
    if (to.state(axis) != AxisState::kUnreduced) {
      finished.push_back(axis);
    }
  }
  TensorType now = from;
  double sum =
      2 * average_elements(mesh, now) * (1 - 1 / static_cast<double>(mesh.axes_size(finished)));
  for (bool placing = false, moved = true; moved || !placing;) {
    placing = !moved;
    moved = false;
    for (size_t dim = 0; dim < from.global.size() && !(placing && moved); ++dim) {
      AxisNames axes = now.spec.dim(dim);
      const AxisNames& wanted = to.dim(dim);
      if (axes.size() == common_prefix(axes, wanted) ||
          (to.state(axes.back()) == AxisState::kUnreduced) != placing) {
        continue;
      }
      axes.pop_back();
      const double before = average_elements(mesh, now);
      now.spec = now.spec.with_dim(dim, axes);
      sum += placing ? 0 : average_elements(mesh, now) - before;
      moved = true;
    }
  }
  return sum;
}

}  // namespace brigade::sharding
