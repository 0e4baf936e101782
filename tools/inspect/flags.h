// SPDX-License-Identifier: Apache-2.0
/// The command line of `brigade inspect`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parallel/base/result.h"

namespace brigade::inspect {

enum class What : uint8_t { kHelp, kCheckpoint, kDiff };

struct Flags {
  What what = What::kHelp;
  std::vector<std::string> paths;   ///< one of kCheckpoint, two of kDiff
  bool verify = false;              ///< --verify: read every byte
  bool json = false;                ///< --json
  std::optional<double> tolerance;  ///< --tolerance=X; none: equal bits
};

/// `arguments` without program and subcommand.
/// Errors: kUsage naming the argument that is wrong and what is accepted.
Result<Flags> parse_flags(const std::vector<std::string>& arguments);

/// All that --help says.
std::string help_text();

}  // namespace brigade::inspect
