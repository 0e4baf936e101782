// SPDX-License-Identifier: Apache-2.0
/// `brigade inspect`: what a checkpoint holds, whether it is whole, and where two differ.
///
/// Changes nothing on the disk and takes no lock: a run may write in the same folder meanwhile.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace brigade::inspect {

/// `command_line` with program and subcommand in front. Returns the exit code: 0 whole or equal, 1
/// unreadable, damaged or different, 2 wrong usage. What cannot be done is one message on `err`
/// and nothing on `out`.
int inspect(const std::vector<std::string>& command_line, std::ostream& out, std::ostream& err);

}  // namespace brigade::inspect
