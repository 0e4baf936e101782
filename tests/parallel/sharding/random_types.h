// SPDX-License-Identifier: Apache-2.0
/// Random specs and sizes, for tests that draw their cases.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "parallel/mesh/mesh.h"
#include "parallel/sharding/partition_spec.h"

namespace brigade::sharding {

/// Gives the axes that `spec` does not mention, each to a random dim, to one of the sets, or to
/// none. `sums`: may be unreduced.
inline PartitionSpec with_random_axes(
    std::mt19937& random, PartitionSpec spec, const mesh::Mesh& mesh, size_t rank, bool sums) {
  std::vector<mesh::Axis> axes = mesh.axes();
  std::shuffle(axes.begin(), axes.end(), random);
  for (const mesh::Axis& axis : axes) {
    const size_t choice = random() % (rank + 3);
    if (spec.state(axis.name) != AxisState::kReplicated) {
      continue;
    }
    if (choice < rank) {
      AxisNames dim = spec.dim(choice);
      dim.push_back(axis.name);
      spec = spec.with_dim(choice, std::move(dim));
    } else if (choice == rank || (choice == rank + 1 && sums)) {
      AxisNames set = choice == rank ? spec.reduced() : spec.unreduced();
      set.push_back(axis.name);
      spec =
          choice == rank ? spec.with_reduced(std::move(set)) : spec.with_unreduced(std::move(set));
    }
  }
  return spec;
}

inline PartitionSpec random_spec(std::mt19937& random,
                                 const mesh::Mesh& mesh,
                                 size_t rank,
                                 bool sums) {
  return with_random_axes(random, PartitionSpec(), mesh, rank, sums);
}

/// Mostly small, some that no mesh divides, seldom empty.
inline int64_t random_size(std::mt19937& random) {
  constexpr int64_t kSizes[] = {1, 2, 2, 3, 4, 4, 5, 6, 6, 8, 8, 0};
  return kSizes[random() % std::size(kSizes)];
}

}  // namespace brigade::sharding
