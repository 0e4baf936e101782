// SPDX-License-Identifier: Apache-2.0
/// What stays of a file of records when a run goes on from a checkpoint that is older than its end.
#pragma once

#include <cstdint>
#include <string>

#include "trainer/metrics/disk_warning.h"

namespace brigade::metrics {

/// Drops from a file of JSON lines those of steps after `step`, which will be run again, and what
/// is no whole record, as the line that a kill has torn. The others stay as they are, in order. The
/// file is replaced by one rename, or not touched; what fails is told to `warning`. There may be no
/// file.
///
/// Memory: a line. Cost: reads the file once, or twice when there is something to drop.
void keep_earlier_records(const std::string& path, int64_t step, DiskWarning& warning);

}  // namespace brigade::metrics
