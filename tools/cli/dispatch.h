// SPDX-License-Identifier: Apache-2.0
/// The front door of `brigade`: finds the subcommand that a command line names.
///
///   const std::vector<Subcommand> known = {{"train", "train a model", run_train}};
///   return dispatch(known, {"brigade", "train", ...}, cout, cerr);
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace brigade::cli {

using Arguments = std::vector<std::string>;

struct Subcommand {
  std::string name;
  std::string summary;
  /// Takes the whole command line (program and subcommand first), returns the exit code.
  std::function<int(const Arguments&)> run;
};

/// --help and --version (exit 0) are answered here; a missing or unknown subcommand is exit 2 with
/// the nearest name.
int dispatch(const std::vector<Subcommand>& subcommands,
             const Arguments& arguments,
             std::ostream& out,
             std::ostream& err);

}  // namespace brigade::cli
