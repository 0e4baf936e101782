// SPDX-License-Identifier: Apache-2.0
/// Pictures of a sharding: who holds what of a tensor, for a terminal or as SVG.
///
///   visualize(sharding, {8, 2});                  // x4,y2; ("y" on dim 1)
///           0:1       1:2
///       ┌─────────┬─────────┐
///   0:8 │ 0,2,4,6 │ 1,3,5,7 │
///       └─────────┴─────────┘
///   visualize(sharding, {8, 2}, isatty(STDOUT_FILENO) == 1);   // with colours in a terminal
///
/// Tensors of one and two dims are drawn: a cell is a box, named by its ranges, with the ranks that
/// hold it, copies together. Scalars and tensors of more dims, and drawings wider than 80 columns,
/// become a table. A line below says when the ranks of a cell hold terms to be joined, not copies.
#pragma once

#include <string>

#include "parallel/sharding/named_sharding.h"

namespace brigade::sharding {

/// Lines of at most 80 columns, but for boxes that do not fit one; cells are 9 wide or more where
/// there is room. `colour`: each cell on a background of its own by ANSI escapes, neighbours apart.
std::string visualize(const NamedSharding& sharding, const Shape& global, bool colour = false);

/// A standalone SVG document: cells in proportion to their sizes, legible on light and dark
/// grounds, with a title and a description for readers that cannot see it. Refers to nothing
/// outside, and may be inlined into a page.
std::string visualize_svg(const NamedSharding& sharding, const Shape& global);

}  // namespace brigade::sharding
