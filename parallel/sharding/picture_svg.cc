// SPDX-License-Identifier: Apache-2.0
// visualize_svg. Whole pixels throughout, so that equal shardings give equal documents.
#include <algorithm>
#include <string>
#include <vector>

#include "parallel/base/text.h"
#include "parallel/sharding/picture.h"
#include "parallel/sharding/picture_grid.h"

namespace brigade::sharding {
namespace {

constexpr int64_t kLetter = 8;  // a character's width at 13 px
constexpr int64_t kLine = 18;
constexpr int64_t kPad = 12;
constexpr int64_t kInnerWidth = 480;  // shared out by size, but no cell is narrower than its text
constexpr int64_t kInnerHeight = 160;
constexpr size_t kMostOfRanks = 24;  // characters on a line

constexpr const char* kStyle =
    "<style>.brigade-sharding text{font:13px ui-monospace,Menlo,Consolas,monospace;"
    "text-anchor:middle;fill:#1f2328}.brigade-sharding rect{stroke:#57606a;fill-opacity:.3}"
    "@media (prefers-color-scheme:dark){.brigade-sharding text{fill:#f0f3f6}"
    ".brigade-sharding rect{stroke:#9ea7b3}}</style>";
constexpr const char* kColours[] = {
    "#3b82f6", "#f59e0b", "#22c55e", "#ef4444", "#8b5cf6", "#eab308", "#14b8a6"};

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      default: safe += c;
    }
  }
  return safe;
}

int64_t text_width(const std::string& text) {
  return static_cast<int64_t>(text.size()) * kLetter;
}

std::string text_at(int64_t x, int64_t y, const std::string& text) {
  return concat("<text x=\"", x, "\" y=\"", y, "\">", escaped(text), "</text>\n");
}

/// Begins and ends of rows or columns: in proportion to their sizes, at least `least`.
std::vector<int64_t> edges_of(const std::vector<PictureBand>& bands,
                              const std::vector<int64_t>& least,
                              int64_t begin,
                              int64_t room) {
  int64_t total = 0;
  for (const PictureBand& band : bands) {
    total += band.size;
  }
  std::vector<int64_t> edges = {begin};
  for (size_t i = 0; i < bands.size(); ++i) {
    const double share =
        total == 0 ? 0 : static_cast<double>(bands[i].size) / static_cast<double>(total);
    edges.push_back(edges.back() +
                    std::max(least[i], static_cast<int64_t>(static_cast<double>(room) * share)));
  }
  return edges;
}

/// Where everything is.
struct Layout {
  std::vector<int64_t> columns;
  std::vector<int64_t> rows;
};

Layout layout_of(const PictureGrid& grid) {
  std::vector<int64_t> widths;
  std::vector<int64_t> heights(grid.rows.size(), kLine);
  for (const PictureBand& column : grid.columns) {
    widths.push_back(text_width(column.label) + kPad);
  }
  int64_t margin = 0;
  for (size_t row = 0; row < grid.rows.size(); ++row) {
    margin = std::max(margin, text_width(grid.rows[row].label));
    for (size_t column = 0; column < grid.columns.size(); ++column) {
      const std::vector<std::string> lines = rank_lines(grid.ranks[row][column], kMostOfRanks);
      heights[row] = std::max(heights[row], static_cast<int64_t>(lines.size()) * kLine + kPad);
      for (const std::string& line : lines) {
        widths[column] = std::max(widths[column], text_width(line) + kPad);
      }
    }
  }
  const int64_t left = kPad + (margin == 0 ? 0 : margin + kPad);
  const int64_t top = kPad + (grid.table ? 0 : kLine);
  return {edges_of(grid.columns, widths, left, kInnerWidth),
          edges_of(grid.rows, heights, top, grid.table ? 0 : kInnerHeight)};
}

std::string cell(const PictureGrid& grid, const Layout& layout, size_t row, size_t column) {
  const int64_t x = layout.columns[column];
  const int64_t y = layout.rows[row];
  const int64_t width = layout.columns[column + 1] - x;
  const int64_t height = layout.rows[row + 1] - y;
  const std::vector<std::string> lines = rank_lines(grid.ranks[row][column], kMostOfRanks);
  std::vector<std::string> labels;
  for (const std::string& label : {grid.rows[row].label, grid.columns[column].label}) {
    if (!label.empty()) {
      labels.push_back(label);
    }
  }
  std::string parts = concat("<g><title>",
                             escaped(join(labels)),
                             ": ranks ",
                             join(grid.ranks[row][column], ","),
                             "</title>\n<rect x=\"",
                             x,
                             "\" y=\"",
                             y,
                             "\" width=\"",
                             width,
                             "\" height=\"",
                             height,
                             "\" fill=\"",
                             kColours[picture_colour(row, column)],
                             "\"/>\n");
  const int64_t block = static_cast<int64_t>(lines.size()) * kLine;
  for (size_t line = 0; line < lines.size(); ++line) {
    const int64_t baseline =
        y + (height - block) / 2 + static_cast<int64_t>(line + 1) * kLine - kLine / 4;
    parts += text_at(x + width / 2, baseline, lines[line]);
  }
  return parts + "</g>\n";
}

std::string labels_of(const PictureGrid& grid, const Layout& layout) {
  std::string texts;
  for (size_t column = 0; column < grid.columns.size(); ++column) {
    if (!grid.columns[column].label.empty()) {
      texts += text_at((layout.columns[column] + layout.columns[column + 1]) / 2,
                       layout.rows.front() - kLine / 3,
                       grid.columns[column].label);
    }
  }
  for (size_t row = 0; row < grid.rows.size(); ++row) {
    if (!grid.rows[row].label.empty()) {
      texts += text_at(layout.columns.front() / 2,
                       (layout.rows[row] + layout.rows[row + 1]) / 2 + kLine / 4,
                       grid.rows[row].label);
    }
  }
  return texts;
}

std::string title_of(const NamedSharding& sharding, const Shape& global) {
  return concat("Sharding ",
                sharding.spec.to_string(),
                " of a tensor of shape (",
                join(global),
                ") on the mesh ",
                sharding.mesh.to_string());
}

std::string description_of(const PictureGrid& grid) {
  const size_t boxes = grid.rows.size() * grid.columns.size();
  return concat(boxes,
                boxes == 1 ? " box" : " boxes",
                ", each labelled with its ranges and the ranks that hold it",
                grid.note.empty() ? "" : concat("; each rank of a cell: ", grid.note));
}

}  // namespace

std::string visualize_svg(const NamedSharding& sharding, const Shape& global) {
  const PictureGrid grid = make_picture_grid(sharding, global, false);
  const Layout layout = layout_of(grid);
  const std::string title = escaped(title_of(sharding, global));
  const int64_t note = grid.note.empty() ? 0 : kLine;
  const int64_t width = std::max(layout.columns.back(), text_width(grid.note)) + kPad;
  const int64_t height = layout.rows.back() + note + kPad;
  std::string svg = concat("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"brigade-sharding\" ",
                           "role=\"img\" aria-label=\"",
                           title,
                           "\" width=\"",
                           width,
                           "\" height=\"",
                           height,
                           "\" viewBox=\"0 0 ",
                           width,
                           ' ',
                           height,
                           "\">\n<title>",
                           title,
                           "</title>\n<desc>",
                           escaped(description_of(grid)),
                           "</desc>\n",
                           kStyle,
                           '\n');
  for (size_t row = 0; row < grid.rows.size(); ++row) {
    for (size_t column = 0; column < grid.columns.size(); ++column) {
      svg += cell(grid, layout, row, column);
    }
  }
  svg += labels_of(grid, layout);
  if (!grid.note.empty()) {
    svg += text_at(width / 2, layout.rows.back() + kLine, grid.note);
  }
  return svg + "</svg>\n";
}

}  // namespace brigade::sharding
