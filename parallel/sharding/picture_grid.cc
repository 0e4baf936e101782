// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/picture_grid.h"

#include <algorithm>
#include <map>
#include <utility>

#include "parallel/base/check.h"
#include "parallel/base/text.h"

namespace brigade::sharding {
namespace {

/// A box as numbers that sort in the order of reading.
using Corners = std::vector<std::pair<int64_t, int64_t>>;

Corners corners_of(const Box& box) {
  Corners corners;
  for (const Interval& dim : box.dims) {
    corners.emplace_back(dim.begin, dim.end);
  }
  return corners;
}

std::string range_text(const Interval& range) {
  return concat(range.begin, ':', range.end);
}

// Several empty parts in a row are one.
std::vector<Interval> parts_of(const NamedSharding& sharding, int64_t dim_size, size_t dim) {
  const int64_t parts = sharding.mesh.axes_size(sharding.spec.dim(dim));
  std::vector<Interval> intervals;
  for (int64_t part = 0; part < parts; ++part) {
    intervals.push_back(interval(dim_size, part, parts));
  }
  intervals.erase(std::unique(intervals.begin(), intervals.end()), intervals.end());
  return intervals;
}

std::vector<PictureBand> bands_of(const std::vector<Interval>& parts) {
  std::vector<PictureBand> bands;
  for (const Interval& part : parts) {
    bands.push_back({range_text(part), part.size()});
  }
  return bands;
}

size_t index_of(const std::vector<Interval>& parts, const Interval& part) {
  return static_cast<size_t>(std::find(parts.begin(), parts.end(), part) - parts.begin());
}

void draw_cells(const NamedSharding& sharding, const Shape& global, PictureGrid& grid) {
  const bool matrix = global.size() == 2;
  const std::vector<Interval> rows =
      matrix ? parts_of(sharding, global[0], 0) : std::vector<Interval>();
  const std::vector<Interval> columns = parts_of(sharding, global.back(), matrix ? 1 : 0);
  grid.rows = matrix ? bands_of(rows) : std::vector<PictureBand>(1);
  grid.columns = bands_of(columns);
  grid.ranks.resize(grid.rows.size(), std::vector<std::vector<int64_t>>(columns.size()));
  for (int64_t rank = 0; rank < sharding.mesh.size(); ++rank) {
    const Box box = sharding.box(global, rank);
    const size_t row = matrix ? index_of(rows, box.dims[0]) : 0;
    grid.ranks[row][index_of(columns, box.dims.back())].push_back(rank);
  }
}

void list_boxes(const NamedSharding& sharding, const Shape& global, PictureGrid& grid) {
  std::map<Corners, std::vector<int64_t>> ranks;
  for (int64_t rank = 0; rank < sharding.mesh.size(); ++rank) {
    ranks[corners_of(sharding.box(global, rank))].push_back(rank);
  }
  grid.columns.resize(1);
  for (const auto& [corners, holders] : ranks) {
    std::vector<std::string> ranges;
    for (const auto& [begin, end] : corners) {
      ranges.push_back(range_text({begin, end}));
    }
    grid.rows.push_back({concat('[', join(ranges), ']'), 1});
    grid.ranks.push_back({holders});
  }
}

}  // namespace

PictureGrid make_picture_grid(const NamedSharding& sharding, const Shape& global, bool as_table) {
  const PartitionSpec& spec = sharding.spec;
  BRIGADE_CHECK(spec.dims() <= global.size(), spec.to_string(), global.size());
  PictureGrid grid;
  grid.table = as_table || global.empty() || global.size() > 2;
  if (grid.table) {
    list_boxes(sharding, global, grid);
  } else {
    draw_cells(sharding, global, grid);
  }
  if (!spec.unreduced().empty()) {
    grid.note = concat("terms of a ",
                       to_string(spec.unreduced_kind()),
                       " over ",
                       join(sharding.mesh.in_mesh_order(spec.unreduced())));
  }
  return grid;
}

std::vector<std::string> rank_lines(const std::vector<int64_t>& ranks, size_t width) {
  std::vector<std::string> lines(1);
  for (size_t i = 0; i < ranks.size(); ++i) {
    const std::string next = concat(ranks[i], i + 1 < ranks.size() ? "," : "");
    if (!lines.back().empty() && lines.back().size() + next.size() > width) {
      lines.emplace_back();
    }
    lines.back() += next;
  }
  return lines;
}

size_t picture_colour(size_t row, size_t column) {
  return (3 * row + column) % 7;
}

}  // namespace brigade::sharding
