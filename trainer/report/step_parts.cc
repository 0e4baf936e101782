// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/step_parts.h"

#include "trainer/report/legend.h"
#include "trainer/report/palette.h"

namespace brigade::report {

static_assert(kAreaShades.size() == scaling::kParts, "each part has a colour");

std::vector<std::string> part_names() {
  std::vector<std::string> names;
  for (size_t part = 0; part < scaling::kParts; ++part) {
    names.emplace_back(to_string(static_cast<scaling::Part>(part)));
  }
  return names;
}

std::string part_legend(const scaling::Breakdown& used) {
  std::vector<LegendEntry> entries;
  const std::vector<std::string> names = part_names();
  for (size_t part = 0; part < scaling::kParts; ++part) {
    if (used[part] > 0) {
      entries.push_back({LegendKey::kArea, part, names[part]});
    }
  }
  return legend(entries);
}

}  // namespace brigade::report
