// SPDX-License-Identifier: Apache-2.0
/// `brigade bench step`: how long a training step of a recipe takes, as one JSON line.
///
///   brigade bench step --config=configs/bench/small.toml launch.ranks=2
///
/// Runs training.steps steps, ranks started exactly as `brigade train` starts them, and times what
/// a step includes: data, forward, backward, reduction, clipping, the update, gathering. The first
/// two steps warm up and are left out of the times.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace brigade::bench {

/// `command_line` with program, "bench" and "step" in front. Returns the exit code
/// (trainer/launch/exit_code.h).
int step(const std::vector<std::string>& command_line, std::ostream& out, std::ostream& err);

}  // namespace brigade::bench
