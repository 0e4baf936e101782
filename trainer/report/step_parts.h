// SPDX-License-Identifier: Apache-2.0
/// The nine parts of a step as areas of drawings. Internal to this module.
#pragma once

#include <string>
#include <vector>

#include "trainer/scaling/results.h"

namespace brigade::report {

/// In the order of scaling::Part, which is that of the area colours.
std::vector<std::string> part_names();

/// Of those parts that have a number above 0.
std::string part_legend(const scaling::Breakdown& used);

}  // namespace brigade::report
