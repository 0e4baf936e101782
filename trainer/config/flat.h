// SPDX-License-Identifier: Apache-2.0
/// A RunConfig as pairs of texts, and as one number: what a checkpoint records of its recipe.
///
///   flat(config).at("optimizer.lr")     // "8e-04"
///   recipe_hash(config)                 // "9f86d081884c7d65"
#pragma once

#include <map>
#include <string>

#include "trainer/config/run_config.h"

namespace brigade::config {

/// "section.key" to the value as on a command line, for every key that has a place in this recipe
/// and a value. As overrides they load to an equal RunConfig.
std::map<std::string, std::string> flat(const RunConfig& config);

/// 16 hexadecimal digits of the recipe without [job]: of what is trained and how, not of where it
/// goes.
std::string recipe_hash(const RunConfig& config);

}  // namespace brigade::config
