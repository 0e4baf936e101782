// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/picture.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "parallel/base/text.h"
#include "parallel/sharding/picture_grid.h"

namespace brigade::sharding {
namespace {

constexpr size_t kWidest = 80;
constexpr size_t kCellWidth = 9;  // of a cell's inside, where there is room
constexpr size_t kBlanks = 2;     // beside a cell's text

std::string padded(const std::string& text, size_t width) {
  const size_t left = (width - text.size()) / 2;
  return std::string(left, ' ') + text + std::string(width - text.size() - left, ' ');
}

// Black on one of seven light backgrounds.
std::string coloured(const std::string& text, size_t row, size_t column, bool colour) {
  constexpr int kLight[] = {153, 222, 157, 217, 189, 229, 152};
  return colour ? concat("\x1b[30;48;5;", kLight[picture_colour(row, column)], 'm', text, "\x1b[0m")
                : text;
}

size_t margin_of(const PictureGrid& grid) {
  size_t margin = 0;
  for (const PictureBand& row : grid.rows) {
    margin = std::max(margin, row.label.empty() ? 0 : row.label.size() + 1);
  }
  return margin;
}

/// Widths of the columns if each line of ranks has at most `most` characters.
std::vector<size_t> widths_of(const PictureGrid& grid, size_t most, size_t least) {
  std::vector<size_t> widths;
  for (size_t column = 0; column < grid.columns.size(); ++column) {
    size_t width = grid.columns[column].label.size();
    for (const auto& row : grid.ranks) {
      for (const std::string& line : rank_lines(row[column], most)) {
        width = std::max(width, line.size());
      }
    }
    widths.push_back(std::max(least, width + kBlanks));
  }
  return widths;
}

/// The most comfortable widths that fit; none if nothing does.
std::optional<std::vector<size_t>> fitting_widths(const PictureGrid& grid) {
  const size_t borders = grid.columns.size() + 1;
  const size_t room = kWidest - std::min(kWidest, margin_of(grid) + borders);
  const size_t share = room / grid.columns.size();
  const size_t narrow = share - std::min(share, kBlanks);
  for (const auto& [most, least] : {std::pair(kWidest, kCellWidth),
                                    std::pair(kWidest, size_t{0}),
                                    std::pair(narrow, size_t{0})}) {
    const std::vector<size_t> widths = widths_of(grid, most, least);
    if (std::accumulate(widths.begin(), widths.end(), size_t{0}) <= room) {
      return widths;
    }
  }
  return std::nullopt;
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

std::string draw_row(const PictureGrid& grid,
                     const std::vector<size_t>& widths,
                     size_t row,
                     bool colour) {
  std::vector<std::vector<std::string>> cells;
  size_t height = 1;
  for (size_t column = 0; column < widths.size(); ++column) {
    cells.push_back(rank_lines(grid.ranks[row][column], widths[column] - kBlanks));
    height = std::max(height, cells.back().size());
  }
  std::string lines;
  for (size_t line = 0; line < height; ++line) {
    const std::string label = line == 0 ? grid.rows[row].label : "";
    lines += concat(label, std::string(margin_of(grid) - label.size(), ' '), "│");
    for (size_t column = 0; column < widths.size(); ++column) {
      const std::string text = line < cells[column].size() ? cells[column][line] : "";
      lines += concat(coloured(padded(text, widths[column]), row, column, colour), "│");
    }
    lines += '\n';
  }
  return lines;
}

std::string draw(const PictureGrid& grid, const std::vector<size_t>& widths, bool colour) {
  const size_t margin = margin_of(grid);
  std::string header(margin, ' ');
  for (size_t column = 0; column < widths.size(); ++column) {
    header += concat(' ', padded(grid.columns[column].label, widths[column]));
  }
  header.erase(header.find_last_not_of(' ') + 1);
  std::string picture = concat(header, '\n', rule(widths, margin, "┌", "┬", "┐"));
  for (size_t row = 0; row < grid.rows.size(); ++row) {
    picture += row == 0 ? "" : rule(widths, margin, "├", "┼", "┤");
    picture += draw_row(grid, widths, row, colour);
  }
  return picture + rule(widths, margin, "└", "┴", "┘");
}

std::string list(const PictureGrid& grid, bool colour) {
  constexpr size_t kMostOfRanks = 40;
  size_t width = 0;
  for (const auto& row : grid.ranks) {
    for (const std::string& line : rank_lines(row[0], kMostOfRanks)) {
      width = std::max(width, line.size());
    }
  }
  std::string lines;
  for (size_t row = 0; row < grid.rows.size(); ++row) {
    const std::vector<std::string> ranks = rank_lines(grid.ranks[row][0], kMostOfRanks);
    for (size_t line = 0; line < ranks.size(); ++line) {
      lines += concat(line == 0 ? "ranks " : "      ", coloured(ranks[line], row, 0, colour));
      lines += line > 0 ? "\n"
                        : concat(std::string(width - ranks[line].size() + 2, ' '),
                                 grid.rows[row].label,
                                 '\n');
    }
  }
  return lines;
}

}  // namespace

std::string visualize(const NamedSharding& sharding, const Shape& global, bool colour) {
  const PictureGrid grid = make_picture_grid(sharding, global, false);
  const auto widths = grid.table ? std::nullopt : fitting_widths(grid);
  const std::string picture = widths ? draw(grid, *widths, colour)
                                     : list(make_picture_grid(sharding, global, true), colour);
  return grid.note.empty() ? picture : concat(picture, "each rank of a cell: ", grid.note, '\n');
}

std::string NamedSharding::picture(const Shape& global) const {
  return visualize(*this, global);
}

}  // namespace brigade::sharding
