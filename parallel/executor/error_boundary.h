// SPDX-License-Identifier: Apache-2.0
/// The error boundary of a step: the one place where what libtorch, a kernel or a communicator
/// throws becomes an Error. Internal to the module.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "parallel/base/result.h"

namespace brigade::executor {

/// Runs `body`; what it throws comes back as "rank <rank>, <what>: ...". An Exception keeps its
/// code and origin; one that began on another rank keeps its text as well, which is that rank's.
Result<void> catch_errors(int64_t rank, const std::string& what, const std::function<void()>& body);

}  // namespace brigade::executor
