// SPDX-License-Identifier: Apache-2.0
/// `brigade bench checkpoint`: how fast a recipe's checkpoints are saved and loaded, beside what
/// one plain file takes on the same disk, as one JSON line.
///
///   brigade bench checkpoint --config=configs/bench/small.toml launch.ranks=2
///
/// Each round writes a plain file, a checkpoint, and one in the background, and reads the first
/// two; every other round the checkpoint comes before the plain file. What is read was dropped from
/// memory before. Rounds: training.steps. Files go to {job.dump_folder}/bench_checkpoint, which is
/// removed.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace brigade::bench {

/// `command_line` with program, "bench" and "checkpoint" in front. Returns the exit code
/// (trainer/launch/exit_code.h).
int checkpoint(const std::vector<std::string>& command_line, std::ostream& out, std::ostream& err);

}  // namespace brigade::bench
