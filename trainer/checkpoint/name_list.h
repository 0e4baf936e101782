// SPDX-License-Identifier: Apache-2.0
/// Lists of tensor names in messages: a large model has thousands, a reader wants to see a few.
#pragma once

#include <span>
#include <string>

namespace brigade::checkpoint {

/// "3 (a, b, c)"; from eleven on the first ten and how many there are more: "12 (a, ..., and 2
/// more)".
std::string name_list(std::span<const std::string> names);

}  // namespace brigade::checkpoint
