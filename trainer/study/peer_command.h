// SPDX-License-Identifier: Apache-2.0
/// The command line of another program that a study measures beside brigade, with places for what a
/// point asks of it.
///
///   check_template("peer.py --ranks {ranks} --batch {batch}")    // nothing to say
///   fill("peer.py --ranks {ranks}", {{"ranks", "2"}})            // "peer.py --ranks 2"
///
/// "{{" and "}}" stand for the braces themselves.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/base/result.h"

namespace brigade::study {

/// The names that may stand in braces:
///   ranks threads flavor model mesh dp tp pp zero schedule batch micro seq_len
///   steps    of the run, with those that are left out of the step times
///   warmup   how many of them are left out
const std::vector<std::string>& placeholders();

/// Errors: kUsage naming an unknown place and the nearest, or a brace that stands alone.
Result<void> check_template(std::string_view command);

/// Of a template that check_template() found right; `values` has a value for each placeholder.
std::string fill(std::string_view command, const std::map<std::string, std::string>& values);

}  // namespace brigade::study
