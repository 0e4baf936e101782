// SPDX-License-Identifier: Apache-2.0
/// JSON files that hold one object, read with duplicate keys refused. Internal to this module.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "parallel/base/result.h"

namespace brigade::checkpoint {

/// Errors: kData beginning with `name`: no JSON, no object, a key that an object has twice.
Result<nlohmann::json> parse_json_object(std::string_view text, const std::string& name);

}  // namespace brigade::checkpoint
