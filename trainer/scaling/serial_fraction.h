// SPDX-License-Identifier: Apache-2.0
/// The serial fraction as the timeline shows it, beside the one that a fit infers.
///
///   std::optional<double> f = serial_fraction({{4, breakdown}, {8, breakdown}}, Scaling::kStrong);
///
/// A step is W(N) + X(N), X being its exposed communication along all axes (means over ranks). Step
/// times alone cannot tell a serial part from a constant X; the timeline can, since it knows X. So
/// W alone is held against its ideal share, at the largest size, n times the smallest:
///
///   strong: W(n) = W(1) ((1 - f) / n + f), f = (W(n) / W(1) - 1 / n) / (1 - 1 / n)
///   weak:   n W(1) / W(n) = n - f (n - 1)
///
/// f holds whatever ranks do not share: bubble, replicated optimizer, loading, waiting for slower
/// ranks, and compute that shrinks by less than its share. With p stages, v chunks and m
/// microbatches at the smallest size, and the data axis growing, bubbles alone make the strong one
/// ((p - 1) / v) / (m + (p - 1) / v). Negative: the work itself became cheaper with more ranks.
///
/// Thread safety: pure functions.
#pragma once

#include <optional>
#include <vector>

#include "trainer/scaling/ratio.h"
#include "trainer/scaling/results.h"

namespace brigade::scaling {

/// Fewest ranks first. None without two sizes of different ranks that spent time on anything but
/// communication, and none when the model grows.
std::optional<double> serial_fraction(const std::vector<SizedBreakdown>& sizes, Scaling scaling);

}  // namespace brigade::scaling
