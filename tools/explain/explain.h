// SPDX-License-Identifier: Apache-2.0
/// `brigade explain`: which collectives a recipe's training step runs, and why.
///
///   brigade explain --config=configs/tiny/3d_2x2x2.toml --ledger
///
/// Runs one real step on synthetic tokens, with every rank a thread of this process, and prints the
/// ledger of each pipeline stage's first rank by group: op, count, pass, bytes of the whole group,
/// source and reason. --json prints one JSON object instead. Memory is that of all ranks together.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace brigade::explain {

/// The whole command line. Returns the exit code (trainer/launch/exit_code.h).
int explain(const std::vector<std::string>& command_line, std::ostream& out, std::ostream& err);

}  // namespace brigade::explain
