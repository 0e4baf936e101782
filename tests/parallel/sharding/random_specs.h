// SPDX-License-Identifier: Apache-2.0
/// Random legal specs, and which of them a tensor can be resharded to.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "parallel/sharding/tensor_type.h"

namespace brigade::sharding {

/// Each axis splits a dim, in any order, or is in one of the sets, or in nothing.
inline PartitionSpec random_legal_spec(std::mt19937& random, const mesh::Mesh& mesh, size_t rank) {
  std::vector<mesh::Axis> axes = mesh.axes();
  std::shuffle(axes.begin(), axes.end(), random);
  std::vector<PartitionSpec::Dim> dims(rank);
  AxisNames unreduced;
  AxisNames reduced;
  for (const mesh::Axis& axis : axes) {
    const size_t choice = random() % (rank + 3);
    if (choice < rank) {
      dims[choice].push_back(axis.name);
    } else if (choice == rank) {
      unreduced.push_back(axis.name);
    } else if (choice == rank + 1) {
      reduced.push_back(axis.name);
    }
  }
  return PartitionSpec(dims).with_unreduced(unreduced).with_reduced(reduced);
}

/// A value held as reduced copies can be split, and nothing else.
inline bool has_way(const mesh::Mesh& mesh, const PartitionSpec& from, const PartitionSpec& to) {
  return std::all_of(mesh.axes().begin(), mesh.axes().end(), [&](const mesh::Axis& axis) {
    const AxisState after = to.state(axis.name);
    return from.state(axis.name) != AxisState::kReduced || after == AxisState::kReduced ||
           after == AxisState::kSharded;
  });
}

}  // namespace brigade::sharding
