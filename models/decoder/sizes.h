// SPDX-License-Identifier: Apache-2.0
/// Checks of a model's sizes that all families make, and the words for what would do.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "parallel/base/result.h"

namespace brigade::decoder {

/// "1, 2, 4": the divisors of `value`.
std::string divisors(int64_t value);

/// Errors: kUsage naming the first of the keys of [model] whose size is below 1.
Result<void> check_at_least_one(std::span<const std::pair<const char*, int64_t>> sizes);

/// Errors: kUsage when heads do not divide the width, with the numbers of heads that would.
Result<void> check_heads_divide(int64_t dim, int64_t heads);

/// Errors: kUsage when `heads`, called `what` in the message, do not divide over the ranks;
/// `allowed` is what the degree may divide.
Result<void> check_heads_split(int64_t heads,
                               const char* what,
                               int64_t tensor_ranks,
                               int64_t allowed);

}  // namespace brigade::decoder
