// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/memory_table.h"

#include <algorithm>
#include <iomanip>
#include <sstream>
#include <string_view>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "parallel/tensor/ledger_report.h"

namespace brigade::loop {
namespace {

using tensor::Category;
using tensor::CategoryBytes;
using tensor::kCategories;

constexpr int kWidth = 12;
constexpr int kLabelWidth = 16;

const char* column(Category category) {
  switch (category) {
    case Category::kParameters: return "parameters";
    case Category::kGradients: return "gradients";
    case Category::kOptimizerStates: return "optimizer";
    case Category::kGathered: return "gathered";
    case Category::kActivations: return "activations";
    case Category::kCommunication: return "messages";
  }
  BRIGADE_CHECK(false, static_cast<int>(category));
}

void write_head(std::ostringstream& out, const std::string& title) {
  out << "memory   " << std::left << std::setw(kLabelWidth) << title << std::right;
  for (size_t i = 0; i < kCategories; ++i) {
    out << std::setw(kWidth) << column(static_cast<Category>(i));
  }
  out << std::setw(kWidth) << "total" << '\n';
}

void write_row(std::ostringstream& out,
               const std::string& label,
               const CategoryBytes& bytes,
               int64_t total) {
  out << "         " << std::left << std::setw(kLabelWidth) << label << std::right;
  for (size_t i = 0; i < kCategories; ++i) {
    out << std::setw(kWidth) << bytes_text(bytes[static_cast<Category>(i)]);
  }
  out << std::setw(kWidth) << bytes_text(total) << '\n';
}

/// Ranks [begin, end) that are planned alike.
struct Alike {
  size_t begin;
  size_t end;
};

std::vector<Alike> alike(const std::vector<CategoryBytes>& planned) {
  std::vector<Alike> groups;
  for (size_t rank = 0; rank < planned.size(); ++rank) {
    if (rank > 0 && planned[rank] == planned[rank - 1]) {
      groups.back().end = rank + 1;
    } else {
      groups.push_back({rank, rank + 1});
    }
  }
  return groups;
}

std::string ranks_text(const Alike& ranks) {
  return ranks.end - ranks.begin == 1 ? concat("rank ", ranks.begin)
                                      : concat("ranks ", ranks.begin, "-", ranks.end - 1);
}

/// Entries that differ in the unit alone.
struct Traffic {
  std::string what;  ///< "reduce_scatter step  unit  gradients"
  int64_t count = 0;
  int64_t bytes = 0;
};

std::string_view without_unit(std::string_view reason) {
  if (reason.starts_with("unit ")) {
    const size_t colon = reason.find(": ");
    return colon == std::string_view::npos ? reason : reason.substr(colon + 2);
  }
  return reason;
}

std::vector<Traffic> traffic_of(const tensor::GroupLedger& group) {
  std::vector<Traffic> lines;
  for (const tensor::LedgerLine& line : group.lines) {
    const std::string what = concat(tensor::collective_of(line.entry.cast),
                                    ", ",
                                    tensor::to_string(line.entry.pass),
                                    ": ",
                                    line.entry.source == "unit" ? "units' " : "",
                                    without_unit(line.entry.reason));
    auto known = std::ranges::find(lines, what, &Traffic::what);
    if (known == lines.end()) {
      lines.push_back({what});
      known = std::prev(lines.end());
    }
    known->count += line.count;
    known->bytes += line.bytes;
  }
  return lines;
}

void write_traffic(std::ostringstream& out, const Traffic& line, int64_t ranks) {
  out << "         " << std::setw(7) << line.count << std::setw(kWidth) << bytes_text(line.bytes)
      << std::setw(kWidth) << bytes_text(line.bytes / ranks) << "  " << line.what << '\n';
}

}  // namespace

std::string planned_table(const std::vector<CategoryBytes>& planned) {
  std::ostringstream out;
  write_head(out, "planned peak");
  for (const Alike& ranks : alike(planned)) {
    write_row(out, ranks_text(ranks), planned[ranks.begin], planned[ranks.begin].total());
  }
  return out.str();
}

std::string measured_table(const std::vector<CategoryBytes>& planned,
                           const std::vector<MeasuredMemory>& measured) {
  BRIGADE_CHECK(planned.size() == measured.size(), planned.size(), measured.size());
  std::ostringstream out;
  write_head(out, "peak");
  for (const Alike& ranks : alike(planned)) {
    size_t most = ranks.begin;
    for (size_t rank = ranks.begin; rank < ranks.end; ++rank) {
      most = measured[rank].total > measured[most].total ? rank : most;
    }
    out << "         " << ranks_text(ranks)
        << (ranks.end - ranks.begin > 1 ? concat(", measured on rank ", most) : "") << '\n';
    write_row(out, "  planned", planned[most], planned[most].total());
    write_row(out, "  measured", measured[most].peak, measured[most].total);
  }
  return out.str();
}

std::string moved_table(const tensor::Ledger& ledger, const mesh::Mesh& mesh, int64_t stage) {
  std::ostringstream out;
  out << "moved    in a step, by the collectives of stage " << stage << '\n';
  const std::vector<tensor::GroupLedger> groups = tensor::by_group(ledger);
  if (groups.empty()) {
    out << "         nothing: no collective\n";
    return out.str();
  }
  out << "           count   all ranks   each rank  reason\n";
  for (const tensor::GroupLedger& group : groups) {
    const int64_t ranks = mesh.axes_size(group.axes);
    write_traffic(out,
                  {concat("all over ", join(group.axes, "·"), ", ", ranks, " ranks"),
                   group.count,
                   group.bytes},
                  ranks);
    for (const Traffic& line : traffic_of(group)) {
      write_traffic(out, {"  " + line.what, line.count, line.bytes}, ranks);
    }
  }
  return out.str();
}

}  // namespace brigade::loop
