// SPDX-License-Identifier: Apache-2.0
/// A legend as HTML beside a chart: it wraps where a drawing cannot.
///
///   legend({{LegendKey::kLine, 0, "tiny dp"}, {LegendKey::kReference, 0, "ideal"}})
///
/// Thread safety: pure.
#pragma once

#include <string>
#include <vector>

namespace brigade::report {

enum class LegendKey {
  kLine,       ///< a marker of style `index`
  kModel,      ///< a dashed line of style `index`
  kReference,  ///< a dotted grey line
  kArea,       ///< area colour `index`
  kHollow      ///< a hollow grey marker
};

struct LegendEntry {
  LegendKey key = LegendKey::kLine;
  size_t index = 0;
  std::string name = "";
};

std::string legend(const std::vector<LegendEntry>& entries);

}  // namespace brigade::report
