// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/table.h"

#include <algorithm>
#include <utility>

#include "parallel/base/check.h"

namespace brigade::inspect {
namespace {

constexpr const char* kGap = "  ";

std::string line(const std::vector<std::string>& row,
                 const std::vector<Column>& columns,
                 const std::vector<size_t>& widths) {
  std::string out;
  for (size_t i = 0; i < row.size(); ++i) {
    const std::string padding(widths[i] - row[i].size(), ' ');
    out += i == 0 ? "" : kGap;
    out += columns[i].align == Align::kRight ? padding + row[i] : row[i] + padding;
  }
  out.resize(out.find_last_not_of(' ') + 1);
  return out + '\n';
}

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

void Table::add(std::vector<std::string> row) {
  BRIGADE_CHECK(row.size() == columns_.size(), row.size(), columns_.size());
  rows_.push_back(std::move(row));
}

std::string Table::text() const {
  std::vector<std::string> titles;
  std::vector<size_t> widths;
  for (const Column& column : columns_) {
    titles.push_back(column.title);
    widths.push_back(column.title.size());
  }
  for (const std::vector<std::string>& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  const bool titled =
      std::any_of(titles.begin(), titles.end(), [](const auto& title) { return !title.empty(); });
  std::string out = titled ? line(titles, columns_, widths) : "";
  for (const std::vector<std::string>& row : rows_) {
    out += line(row, columns_, widths);
  }
  return out;
}

}  // namespace brigade::inspect
