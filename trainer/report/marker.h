// SPDX-License-Identifier: Apache-2.0
/// Markers of points: eight shapes that stay apart without colour, full or hollow.
#pragma once

#include <string>

#include "trainer/report/svg.h"

namespace brigade::report {

/// Data of a path around `centre`. `shape` counts on from the first after the last.
std::string marker_path(size_t shape, Place centre, double radius = 4.5);

/// CSS classes of style `index`: its colour; hollow ones are filled with the surface.
std::string marker_class(size_t index, bool hollow);

}  // namespace brigade::report
