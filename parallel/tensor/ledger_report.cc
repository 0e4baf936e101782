// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ledger_report.h"

#include <algorithm>
#include <iomanip>
#include <sstream>

#include <nlohmann/json.hpp>

#include "parallel/base/text.h"

namespace brigade::tensor {
namespace {

template <class Items, class Predicate>
auto& found_or_added(Items& items, const Predicate& matches) {
  const auto found = std::find_if(items.begin(), items.end(), matches);
  return found != items.end() ? *found : items.emplace_back();
}

/// Without the source's name, which has a column of its own.
std::string_view short_reason(const LedgerEntry& entry) {
  std::string_view reason = entry.reason;
  if (!entry.source.empty() && reason.starts_with(entry.source)) {
    reason.remove_prefix(entry.source.size());
    reason.remove_prefix(std::min(reason.find_first_not_of(": "), reason.size()));
  }
  return reason;
}

size_t widest(const std::vector<GroupLedger>& groups, std::string LedgerEntry::*field) {
  size_t width = 6;
  for (const GroupLedger& group : groups) {
    for (const LedgerLine& line : group.lines) {
      width = std::max(width, (line.entry.*field).size());
    }
  }
  return width;
}

/// "all_reduce", "all_reduce max".
std::string collective_text(const LedgerEntry& entry) {
  const bool sums = entry.reduction == sharding::Reduction::kSum;
  return concat(collective_of(entry.cast), sums ? "" : concat(' ', to_string(entry.reduction)));
}

void print_line(std::ostringstream& out, const LedgerLine& line, int source_width) {
  out << "  " << std::setw(5) << line.count << "  " << std::left << std::setw(14)
      << collective_text(line.entry) << "  " << std::setw(8) << to_string(line.entry.pass)
      << std::right << "  " << std::setw(10) << bytes_text(line.bytes) << "  " << std::left
      << std::setw(source_width) << line.entry.source << std::right << "  "
      << short_reason(line.entry) << '\n';
}

}  // namespace

std::vector<GroupLedger> by_group(const Ledger& ledger) {
  std::vector<GroupLedger> groups;
  for (const LedgerEntry& entry : ledger.entries()) {
    GroupLedger& group =
        found_or_added(groups, [&](const GroupLedger& known) { return known.axes == entry.axes; });
    group.axes = entry.axes;
    group.count += 1;
    group.bytes += entry.group_bytes;
    LedgerLine& line =
        found_or_added(group.lines, [&](const LedgerLine& known) { return known.entry == entry; });
    line.entry = entry;
    line.count += 1;
    line.bytes += entry.group_bytes;
  }
  return groups;
}

std::string to_table(const Ledger& ledger, const mesh::Mesh& mesh) {
  const std::vector<GroupLedger> groups = by_group(ledger);
  if (groups.empty()) {
    return "no collective\n";
  }
  const int source_width = static_cast<int>(widest(groups, &LedgerEntry::source));
  std::ostringstream out;
  for (const GroupLedger& group : groups) {
    out << "group " << join(group.axes, "·") << " (" << mesh.axes_size(group.axes)
        << " ranks): " << group.count << (group.count == 1 ? " collective, " : " collectives, ")
        << bytes_text(group.bytes) << '\n'
        << "  count  op              pass           bytes  " << std::left << std::setw(source_width)
        << "source" << std::right << "  reason\n";
    for (const LedgerLine& line : group.lines) {
      print_line(out, line, source_width);
    }
  }
  return out.str();
}

std::string to_json(const Ledger& ledger, const mesh::Mesh& mesh, int indent) {
  nlohmann::ordered_json groups = nlohmann::ordered_json::array();
  for (const GroupLedger& group : by_group(ledger)) {
    nlohmann::ordered_json lines = nlohmann::ordered_json::array();
    for (const LedgerLine& line : group.lines) {
      lines.push_back({{"op", collective_text(line.entry)},
                       {"cast", sharding::to_string(line.entry.cast)},
                       {"pass", to_string(line.entry.pass)},
                       {"count", line.count},
                       {"bytes", line.bytes},
                       {"source", line.entry.source},
                       {"reason", line.entry.reason}});
    }
    groups.push_back({{"axes", group.axes},
                      {"ranks", mesh.axes_size(group.axes)},
                      {"collectives", group.count},
                      {"bytes", group.bytes},
                      {"lines", std::move(lines)}});
  }
  const nlohmann::ordered_json all = {{"groups", std::move(groups)},
                                      {"collectives", ledger.entries().size()},
                                      {"bytes", ledger.bytes()}};
  return all.dump(indent);
}

}  // namespace brigade::tensor
