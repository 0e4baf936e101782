// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/scaling_page.h"

#include <array>

#include "parallel/base/text.h"
#include "trainer/report/markup.h"
#include "trainer/report/scaling_sections.h"

namespace brigade::report {
namespace {

constexpr std::array kSections = {
    speed_section,
    throughput_section,
    breakdown_section,
    step_section,
    memory_section,
    fits_section,
    failures_section,
    machine_section,
    provenance_section,
};

}  // namespace

std::string scaling_page(const scaling::Results& results) {
  Page page;
  page.title = concat("Scaling: ", results.provenance.study);
  page.header = headline(results);
  for (const auto section : kSections) {
    page.sections.push_back(section(results));
  }
  page.footer = concat("Made by brigade ",
                       escaped(results.provenance.version),
                       " from scale.json, which has every number in full.");
  return to_html(page);
}

}  // namespace brigade::report
