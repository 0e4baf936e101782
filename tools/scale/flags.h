// SPDX-License-Identifier: Apache-2.0
/// The command line of `brigade scale`.
#pragma once

#include <string>
#include <vector>

#include "parallel/base/result.h"

namespace brigade::scale {

struct Flags {
  std::string config = "";  ///< --config=FILE
  bool list = false;        ///< --list: say what would run, and for how long
  bool again = false;       ///< --again: repeat what failed
  bool help = false;
};

/// `arguments` without program and subcommand.
/// Errors: kUsage naming the argument that is wrong and what is accepted.
Result<Flags> parse_flags(const std::vector<std::string>& arguments);

/// All that --help says.
std::string help_text();

}  // namespace brigade::scale
