// SPDX-License-Identifier: Apache-2.0
/// `brigade scale`: measures how a recipe scales, explains it, and writes a page about it.
///
///   brigade scale --config=configs/studies/two_ranks.toml --list
///   brigade scale --config=configs/studies/two_ranks.toml
///
/// docs/SCALING.md says what is measured and how.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace brigade::scale {

/// The whole command line. Returns the exit code that --help lists.
int scale(const std::vector<std::string>& command_line, std::ostream& out, std::ostream& err);

}  // namespace brigade::scale
