// SPDX-License-Identifier: Apache-2.0
/// utc_time: now, as files say it: "2026-11-30T05:40:00Z".
#pragma once

#include <string>

namespace brigade::checkpoint {

std::string utc_time();

}  // namespace brigade::checkpoint
