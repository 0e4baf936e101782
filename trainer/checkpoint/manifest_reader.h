// SPDX-License-Identifier: Apache-2.0
/// The JSON inside a manifest's frame, read strictly. Internal to the module.
#pragma once

#include <string_view>

#include "parallel/base/result.h"
#include "trainer/checkpoint/manifest.h"

namespace brigade::checkpoint {

inline constexpr const char* kFormatName = "brigade-checkpoint";

/// All checks of the page but the frame's and that of coverage.
/// Errors: kData; the text begins where the file's name ends.
Result<Manifest> read_manifest(std::string_view json);

}  // namespace brigade::checkpoint
