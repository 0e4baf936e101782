// SPDX-License-Identifier: Apache-2.0
/// This process's resident memory, as the kernel counts it (/proc/self/status); 0 where it does
/// not.
#pragma once

#include <cstdint>

namespace brigade::metrics {

int64_t resident_bytes();       ///< now (VmRSS)
int64_t peak_resident_bytes();  ///< the most so far (VmHWM)

}  // namespace brigade::metrics
