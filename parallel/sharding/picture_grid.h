// SPDX-License-Identifier: Apache-2.0
/// The cells of a picture, before they are drawn as text or SVG. Not part of the interface.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parallel/sharding/named_sharding.h"

namespace brigade::sharding {

/// One row or column: its label and how many elements of the dim it has.
struct PictureBand {
  std::string label;
  int64_t size = 1;
};

struct PictureGrid {
  bool table = false;                ///< one column; rows are whole boxes, not parts of a dim
  std::vector<PictureBand> rows;     ///< one without a label for a single dim
  std::vector<PictureBand> columns;  ///< one without a label in a table
  std::vector<std::vector<std::vector<int64_t>>> ranks;  ///< by row and column, ascending
  std::string note;  ///< what the ranks of a cell share if not copies; empty if copies
};

/// Equal boxes are one cell; empty boxes are cells too. `as_table` also for one and two dims.
PictureGrid make_picture_grid(const NamedSharding& sharding, const Shape& global, bool as_table);

/// The ranks, separated by commas, in lines of at most `width` characters where they can be.
std::vector<std::string> rank_lines(const std::vector<int64_t>& ranks, size_t width);

/// Which of seven colours a cell takes: neighbours, diagonal ones too, differ.
size_t picture_colour(size_t row, size_t column);

}  // namespace brigade::sharding
