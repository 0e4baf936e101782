// SPDX-License-Identifier: Apache-2.0
/// The sections of a study's page, in their order there. Each is a function of the results; one
/// that has nothing to show has an empty html. Internal to this module.
///
/// A further section is one more file and one more line in scaling_page.cc.
#pragma once

#include <string>

#include "trainer/report/page.h"
#include "trainer/scaling/results.h"

namespace brigade::report {

std::string headline(const scaling::Results& results);  ///< HTML of the page's header

Section speed_section(const scaling::Results& results);       ///< speed-up and efficiency
Section throughput_section(const scaling::Results& results);  ///< tokens/s, all points in a table
Section breakdown_section(const scaling::Results& results);   ///< where the time goes
Section step_section(const scaling::Results& results);        ///< one step, rank by rank
Section memory_section(const scaling::Results& results);      ///< and bytes communicated
Section fits_section(const scaling::Results& results);        ///< laws, Karp-Flatt, ratios
Section failures_section(const scaling::Results& results);    ///< with their last lines
Section machine_section(const scaling::Results& results);     ///< peaks, the formula of the MFU
Section provenance_section(const scaling::Results& results);

/// Figures of the section of laws.
std::string karp_flatt_figure(const scaling::Results& results);
std::string ratio_figure(const scaling::Results& results);

}  // namespace brigade::report
