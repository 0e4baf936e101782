// SPDX-License-Identifier: Apache-2.0
/// `brigade bench WHAT`: finds the benchmark.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace brigade::bench {

/// The whole command line. Returns the exit code (trainer/launch/exit_code.h).
int run(const std::vector<std::string>& command_line, std::ostream& out, std::ostream& err);

}  // namespace brigade::bench
