// SPDX-License-Identifier: Apache-2.0
/// Which TCP addresses processes listen on, as the kernel knows it.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace brigade::testing {

/// The address, without port, of every listening TCP socket that one of `processes` holds: dotted
/// for IPv4, the kernel's hexadecimal for IPv6.
std::vector<std::string> listening(const std::vector<pid_t>& processes);

}  // namespace brigade::testing
