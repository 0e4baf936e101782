// SPDX-License-Identifier: Apache-2.0
/// Flavors: named model sizes, so that a recipe need not list them.
#pragma once

#include <string_view>

#include "trainer/config/run_config.h"

namespace brigade::config {

/// The sizes of a flavor that the key table accepts: debugmodel, tiny, small or base. A family's
/// own: the feed-forward of gpt2 is 4 x dim wide and not gated, and its head is tied.
Model flavor(std::string_view family, std::string_view name);

}  // namespace brigade::config
