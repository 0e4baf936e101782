// SPDX-License-Identifier: Apache-2.0
// NamedSharding::picture. A cell is a box; its text, the ranks that hold it.
#include <algorithm>
#include <string>
#include <vector>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "parallel/sharding/named_sharding.h"

namespace brigade::sharding {
namespace {

struct Grid {
  std::vector<Interval> rows;
  std::vector<Interval> columns;
  std::vector<std::vector<std::string>> cells;  // by row and column: "0,2,4"
};

std::string range_text(const Interval& range) {
  return concat(range.begin, ':', range.end);
}

std::vector<Interval> parts_of(const NamedSharding& sharding, int64_t dim_size, size_t dim) {
  const int64_t parts = sharding.mesh.axes_size(sharding.spec.dim(dim));
  std::vector<Interval> intervals;
  for (int64_t part = 0; part < parts; ++part) {
    intervals.push_back(interval(dim_size, part, parts));
  }
  return intervals;
}

// Boxes are counted in row-major order of their position, so that parts of size 0 keep theirs.
std::vector<std::string> ranks_by_box(const NamedSharding& sharding, size_t dims) {
  AxisNames axes;
  for (size_t dim = 0; dim < dims; ++dim) {
    axes.insert(axes.end(), sharding.spec.dim(dim).begin(), sharding.spec.dim(dim).end());
  }
  std::vector<std::string> ranks(static_cast<size_t>(sharding.mesh.axes_size(axes)));
  for (int64_t rank = 0; rank < sharding.mesh.size(); ++rank) {
    std::string& text = ranks[static_cast<size_t>(sharding.mesh.flattened_index(rank, axes))];
    text += concat(text.empty() ? "" : ",", rank);
  }
  return ranks;
}

Grid make_grid(const NamedSharding& sharding, const Shape& global) {
  Grid grid;
  const bool matrix = global.size() == 2;
  grid.rows = matrix ? parts_of(sharding, global[0], 0) : std::vector<Interval>{};
  grid.columns = parts_of(sharding, global.back(), matrix ? 1 : 0);
  const std::vector<std::string> ranks = ranks_by_box(sharding, global.size());
  for (auto begin = ranks.begin(); begin != ranks.end();) {
    const auto end = begin + static_cast<std::ptrdiff_t>(grid.columns.size());
    grid.cells.emplace_back(begin, end);
    begin = end;
  }
  return grid;
}

std::string padded(const std::string& text, size_t width) {
  const size_t left = (width - text.size()) / 2;
  return std::string(left, ' ') + text + std::string(width - text.size() - left, ' ');
}

std::string rule(const std::vector<size_t>& widths,
                 size_t margin,
                 const char* left,
                 const char* middle,
                 const char* right) {
  std::vector<std::string> parts;
  for (const size_t width : widths) {
    std::string part;
    for (size_t i = 0; i < width; ++i) {
      part += "─";
    }
    parts.push_back(std::move(part));
  }
  return concat(std::string(margin, ' '), left, join(parts, middle), right, '\n');
}

std::string draw(const Grid& grid) {
  std::vector<size_t> widths;
  std::vector<std::string> header;
  for (size_t column = 0; column < grid.columns.size(); ++column) {
    size_t width = range_text(grid.columns[column]).size();
    for (const auto& row : grid.cells) {
      width = std::max(width, row[column].size());
    }
    widths.push_back(width + 2);
    header.push_back(padded(range_text(grid.columns[column]), widths.back()));
  }
  size_t margin = 0;
  for (const Interval& row : grid.rows) {
    margin = std::max(margin, range_text(row).size() + 1);
  }
  std::string picture = concat(std::string(margin + 1, ' '), join(header, " "));
  picture.erase(picture.find_last_not_of(' ') + 1);
  picture += '\n';
  picture += rule(widths, margin, "┌", "┬", "┐");
  for (size_t row = 0; row < grid.cells.size(); ++row) {
    picture += row == 0 ? "" : rule(widths, margin, "├", "┼", "┤");
    const std::string label = grid.rows.empty() ? "" : range_text(grid.rows[row]);
    std::vector<std::string> cells;
    for (size_t column = 0; column < widths.size(); ++column) {
      cells.push_back(padded(grid.cells[row][column], widths[column]));
    }
    picture += concat(label, std::string(margin - label.size(), ' '), "│", join(cells, "│"), "│\n");
  }
  return picture + rule(widths, margin, "└", "┴", "┘");
}

std::string table(const NamedSharding& sharding, const Shape& global) {
  std::vector<std::string> ranks = ranks_by_box(sharding, global.size());
  size_t width = 0;
  for (const std::string& text : ranks) {
    width = std::max(width, text.size());
  }
  std::string lines;
  for (const std::string& text : ranks) {
    std::vector<std::string> ranges;
    for (const Interval& range : sharding.box(global, std::stoll(text)).dims) {
      ranges.push_back(range_text(range));
    }
    lines +=
        concat("ranks ", text, std::string(width - text.size(), ' '), "  [", join(ranges), "]\n");
  }
  return lines;
}

}  // namespace

std::string NamedSharding::picture(const Shape& global) const {
  BRIGADE_CHECK(spec.dims() <= global.size(), spec.to_string(), global.size());
  const bool drawn = global.size() == 1 || global.size() == 2;
  return drawn ? draw(make_grid(*this, global)) : table(*this, global);
}

}  // namespace brigade::sharding
