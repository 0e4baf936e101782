// SPDX-License-Identifier: Apache-2.0
/// What can be wrong with settings that parsed: a value out of its range, an ask, keys that exclude
/// one another. Needs no world size.
#pragma once

#include "trainer/config/run_config.h"
#include "trainer/config/settings.h"

namespace brigade::config {

/// Each key on its own: range, accepted values, asks, the optimizer that it belongs to.
void check_values(const Settings& settings, Problems& problems);

/// Keys together; `config` is what `settings` merged into.
void check_combinations(const RunConfig& config, const Settings& settings, Problems& problems);

/// Those of [checkpoint], a part of check_combinations().
void check_checkpoint(const RunConfig& config, const Settings& settings, Problems& problems);

}  // namespace brigade::config
