// SPDX-License-Identifier: Apache-2.0
/// The flags of one subcommand. gflags holds the values; its registry is that of every library in
/// the program, so each command lists which are its own, and how they are called on its line.
///
///   constexpr std::array kKnown = {cli::KnownFlag{"from", "convert_from", "--from=PATH"}, ...};
///   const gflags::FlagSaver restore;  // the registry is global; a second parse begins afresh
///   Result<void> set = cli::set_flags(kKnown, arguments, "paths are --from=PATH and --to=PATH");
#pragma once

#include <span>
#include <string>
#include <vector>

#include "parallel/base/result.h"

namespace brigade::cli {

struct KnownFlag {
  const char* name;     ///< as typed, with underscores
  const char* library;  ///< in gflags' registry, where names like --help are taken
  const char* shown;    ///< "--from=PATH"
};

/// Sets every flag of `arguments`. A hyphen is an underscore, a value may follow as its own
/// argument, -h is --help. `positional` says what to write instead of an argument that is no flag.
/// Errors: kUsage for an argument that is no flag, an unknown flag (with the nearest, or all, and
///         `other`), or a value that is none.
Result<void> set_flags(std::span<const KnownFlag> known,
                       const std::vector<std::string>& arguments,
                       const std::string& positional,
                       const std::string& other = "");

/// "  --from=PATH   what to convert" for every flag.
std::string flags_help(std::span<const KnownFlag> known);

}  // namespace brigade::cli
