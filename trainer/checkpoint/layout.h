// SPDX-License-Identifier: Apache-2.0
/// Who writes what: each box once, by one of the ranks that hold it.
///
///   const std::vector<Holding> tensors = {{"w", ElementType::kF32, {4, 2}, {rows_0_2, rows_2_4}}};
///   assign_writers(tensors, 2)[rank];   // indices of the tensors whose box there this rank writes
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parallel/sharding/interval.h"
#include "trainer/checkpoint/element_type.h"

namespace brigade::checkpoint {

/// What the ranks of a mesh hold of one tensor.
struct Holding {
  std::string name;
  ElementType type = ElementType::kF32;
  sharding::Shape shape;
  std::vector<std::optional<sharding::Box>> boxes;  ///< by rank
};

/// For each of `ranks` ranks the tensors whose box there it writes, ascending. Equal boxes are
/// copies: the holder to which the fewest bytes were given so far writes one (the first of several
/// such), boxes taken from the largest down, then by name. A pure function: ranks that call it with
/// equal arguments need not talk.
std::vector<std::vector<size_t>> assign_writers(std::span<const Holding> tensors, size_t ranks);

}  // namespace brigade::checkpoint
