// SPDX-License-Identifier: Apache-2.0
// write_sample_pages FOLDER: pages of made-up studies and the JSON they were made of, for
// page_browser_test.py.
#include <fstream>
#include <iostream>
#include <map>
#include <string>

#include "tests/trainer/scaling/sample_results.h"
#include "trainer/report/scaling_page.h"
#include "trainer/scaling/results_json.h"

int main(int argc, char** argv) {
  using namespace brigade;
  if (argc != 2) {
    std::cerr << "usage: write_sample_pages FOLDER\n";
    return 2;
  }
  const std::map<std::string, scaling::Results> studies = {
      {"two_ranks", scaling::two_rank_study()},
      {"oversubscribed", scaling::oversubscribed_study()},
      {"all_failed", scaling::all_failed_study()},
      {"one_point", scaling::one_point_study()},
      {"peers", scaling::peer_study()},
      {"empty", {}}};
  for (const auto& [name, results] : studies) {
    const std::string path = concat(argv[1], '/', name);
    std::ofstream page(path + ".html");
    page << report::scaling_page(results);
    std::ofstream json(path + ".json");
    json << scaling::to_json(results);
    if (!page.flush() || !json.flush()) {
      std::cerr << "cannot write " << path << '\n';
      return 1;
    }
  }
  return 0;
}
