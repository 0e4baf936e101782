// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/table.h"

#include "parallel/base/text.h"
#include "trainer/report/markup.h"
#include "trainer/scaling/results_csv.h"

namespace brigade::report {
namespace {

std::string cell_html(const Cell& cell, const Column& column, bool heading) {
  std::string tag = heading ? "th scope=\"row\"" : "td";
  if (column.numeric) {
    tag += " class=\"n\"";
  }
  if (cell.value) {
    tag += concat(" data-value=\"", exact(*cell.value), '"');
  }
  if (!cell.from.empty()) {
    tag += concat(" data-from=\"", escaped(cell.from), '"');
  }
  return concat('<', tag, '>', escaped(cell.text), heading ? "</th>" : "</td>");
}

std::string percent_encoded(const std::string& bytes) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  constexpr std::string_view kPlain = "-_.~,:;()/";
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    const bool letter = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (letter || kPlain.find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += '%';
      out += kDigits[byte / 16U];
      out += kDigits[byte % 16U];
    }
  }
  return out;
}

}  // namespace

Cell number_cell(double value, std::string text, std::string from) {
  return {std::move(text), value, std::move(from)};
}

std::string to_html(const Table& table) {
  std::string html = concat("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"",
                            escaped(table.caption),
                            "\"><table><caption>",
                            escaped(table.caption),
                            "</caption>\n<thead><tr>");
  for (const Column& column : table.columns) {
    html += concat("<th scope=\"col\"",
                   column.numeric ? " class=\"n\"" : "",
                   '>',
                   escaped(column.heading),
                   "</th>");
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (size_t i = 0; i < row.size(); ++i) {
      html += cell_html(row[i], table.columns.at(i), i == 0);
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string to_csv(const Table& table) {
  std::string csv;
  for (const Column& column : table.columns) {
    csv += (csv.empty() ? "" : ",") + scaling::csv_field(column.heading);
  }
  csv += "\r\n";
  for (const auto& row : table.rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += (i == 0 ? "" : ",") +
              scaling::csv_field(row[i].value ? exact(*row[i].value) : row[i].text);
    }
    csv += line + "\r\n";
  }
  return csv;
}

std::string csv_link(const Table& table, const std::string& file) {
  return concat("<a class=\"csv\" download=\"",
                escaped(file),
                "\" href=\"data:text/csv;charset=utf-8,",
                percent_encoded(to_csv(table)),
                "\">",
                escaped(file),
                "</a>");
}

}  // namespace brigade::report
