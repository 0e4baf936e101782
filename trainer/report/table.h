// SPDX-License-Identifier: Apache-2.0
/// A table for people (HTML) and for programs (CSV in a link).
///
///   Table table{"Step time", {{"point"}, {"median (ms)", true}}};
///   table.rows.push_back({{"dp"}, number_cell(49.81, "49.8", "points/0/median_step_ms/value")});
///   std::string html = to_html(table);
///
/// A cell with a value carries it in full as data-value, and, if it comes from a file, its place
/// there as data-from. Thread safety: pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace brigade::report {

struct Column {
  std::string heading = "";
  bool numeric = false;  ///< aligned by its digits
};

struct Cell {
  std::string text = "";
  std::optional<double> value = {};
  std::string from = "";  ///< JSON pointer without the first slash; "" for what was derived
};

Cell number_cell(double value, std::string text, std::string from = "");

struct Table {
  std::string caption = "";
  std::vector<Column> columns = {};
  std::vector<std::vector<Cell>> rows = {};  ///< the first cell of a row is its heading
};

/// Within a box that scrolls sideways by itself.
std::string to_html(const Table& table);

/// Values in full where cells have one, texts elsewhere.
std::string to_csv(const Table& table);

/// A link that saves the table as `file`, with the bytes in it.
std::string csv_link(const Table& table, const std::string& file);

}  // namespace brigade::report
