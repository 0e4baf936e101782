// SPDX-License-Identifier: Apache-2.0
/// JSON as people read it: what fits a line stands on one, lists of numbers always do.
/// Internal to this module.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace brigade::scaling {

/// Ends with a line break. Cost: linear in the text, times its depth.
std::string pretty_json(const nlohmann::ordered_json& json);

}  // namespace brigade::scaling
