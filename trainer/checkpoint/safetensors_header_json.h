// SPDX-License-Identifier: Apache-2.0
/// The JSON of a safetensors header, read event by event: a DOM would keep the last of two equal
/// keys in silence. Internal to this module; byte ranges are not yet checked.
#pragma once

#include <string>
#include <string_view>

#include "trainer/checkpoint/safetensors_header.h"

namespace brigade::checkpoint {

/// Fills `tensors` and `metadata` of the result. The error's text begins where the file's name
/// ends.
Result<SafetensorsHeader> parse_header_json(std::string_view json);

}  // namespace brigade::checkpoint
