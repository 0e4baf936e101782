// SPDX-License-Identifier: Apache-2.0
/// The flags of `brigade train`: where and who. What to train is said by recipe and overrides.
#pragma once

#include <string>
#include <vector>

#include "parallel/base/result.h"

namespace brigade::train {

struct Flags {
  std::string config;         ///< --config=FILE: the recipe
  bool print_config = false;  ///< --print-config: the merged recipe, and nothing else
  bool help = false;          ///< --help
  std::string rank;           ///< --rank, --world-size, --master-addr, --master-port: as if the
  std::string world_size;     ///< BRIGADE_... variables were set
  std::string master_addr;
  std::string master_port;
  std::vector<std::string> overrides;  ///< section.key=value, for config::load
};

/// `arguments` without program and subcommand. A hyphen is an underscore, a value may follow as its
/// own argument.
/// Errors: kUsage for an unknown flag (with the nearest), or a value that is none.
Result<Flags> parse_flags(const std::vector<std::string>& arguments);

/// "  --config=FILE   the recipe ..." for every flag.
std::string flags_help();

}  // namespace brigade::train
