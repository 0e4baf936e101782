// SPDX-License-Identifier: Apache-2.0
/// Table: rows of texts on aligned columns.
///
///   Table table({{"file"}, {"bytes", Align::kRight}});
///   table.add({"rank-00000.safetensors", "1,234"});
///   out << table.text();
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace brigade::inspect {

enum class Align : uint8_t { kLeft, kRight };

struct Column {
  std::string title;  ///< all empty: no line of titles
  Align align = Align::kLeft;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns);

  /// One text per column.
  void add(std::vector<std::string> row);
  bool empty() const { return rows_.empty(); }

  /// Every row a line, two spaces between columns, none at a line's end.
  std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace brigade::inspect
