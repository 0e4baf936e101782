// SPDX-License-Identifier: Apache-2.0
/// The frame of a page: one HTML file that needs nothing else, not even scripts.
///
///   page({"Scaling of laptop", "<h1>...", {{"speed", "Speed-up", "<p>..."}}, "made by ..."})
///
/// Light and dark by the reader's preference, or by a button where scripts run. Thread safety:
/// pure.
#pragma once

#include <string>
#include <vector>

namespace brigade::report {

struct Section {
  std::string id = "";
  std::string heading = "";
  std::string html = "";  ///< "": the section is left out
};

struct Page {
  std::string title = "";
  std::string header = "";  ///< HTML
  std::vector<Section> sections = {};
  std::string footer = "";  ///< HTML
};

std::string to_html(const Page& page);

}  // namespace brigade::report
