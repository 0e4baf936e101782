// SPDX-License-Identifier: Apache-2.0
/// The points of a study's peers: the same work as a point of brigade's, by another program.
#pragma once

#include <string>
#include <vector>

#include "parallel/base/result.h"
#include "trainer/study/grid.h"
#include "trainer/study/study.h"

namespace brigade::study {

/// Adds to `grid` the points of each peer beside those of the series that it names, and a series of
/// its own for each ("ddp: tiny dp zero 0"). A command that two points would run alike is one
/// point, and series of the same points are one. `families`: the mesh of each of grid's series.
/// Errors: kUsage when a peer names no series, with the nearest.
Result<void> add_peers(const Study& study, const std::vector<std::string>& families, Grid& grid);

}  // namespace brigade::study
