// SPDX-License-Identifier: Apache-2.0
/// `brigade train`: from a command line to running ranks.
///
/// Reads the recipe and finds out who this process is. Where nobody started it, it starts the ranks
/// itself and stays with them; otherwise it is one rank, and calls `run_rank`.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "parallel/base/result.h"
#include "trainer/config/run_config.h"
#include "trainer/launch/exit_code.h"
#include "trainer/launch/rank_identity.h"

namespace brigade::train {

/// Trains as one rank, and says how that ended. What it cannot do it returns (or throws as
/// Exception); the caller tells the launcher.
using RunRank =
    std::function<Result<launch::RunEnd>(const config::RunConfig&, const launch::RankIdentity&)>;

/// How a command that runs ranks is called.
struct Invocation {
  size_t words = 2;                    ///< of the command line that are program and subcommand
  std::string name = "brigade train";  ///< in messages
};

/// `command_line` with program and subcommand in front; ranks are started with the same one.
/// Returns the exit code (trainer/launch/exit_code.h). A config that cannot be is exit 2 before any
/// rank starts.
int train(const std::vector<std::string>& command_line,
          const RunRank& run_rank,
          std::ostream& out,
          std::ostream& err,
          const Invocation& invocation = {});

}  // namespace brigade::train
