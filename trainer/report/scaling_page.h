// SPDX-License-Identifier: Apache-2.0
/// The page of a scaling study: one HTML file, readable without network, scripts or colours.
///
///   write_file("scale.html", scaling_page(results));
///
/// Shows what results.h holds; only speed-up and efficiency, ratios of two measured numbers, are
/// computed here. Numbers in its tables carry their full value and their place in scale.json
/// (table.h). At most 2 MB for 16 points of 8 ranks, whatever their timelines. Any Results will do:
/// what was not measured has no section. Thread safety: pure.
#pragma once

#include <string>

#include "trainer/scaling/results.h"

namespace brigade::report {

std::string scaling_page(const scaling::Results& results);

}  // namespace brigade::report
