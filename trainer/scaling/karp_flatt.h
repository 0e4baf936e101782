// SPDX-License-Identifier: Apache-2.0
/// The serial fraction that a measured speed-up implies (Karp and Flatt, CACM 33(5), 1990).
///
///   karp_flatt({{384, 153 * 384}, {768, 149 * 768}});  // {{768, .0268}}
///
/// e = (1 / S - 1 / n) / (1 - 1 / n), where n = N / base and S = speed / speed of the base: the
/// base need not be one rank, and e is then the share of the *base's* step that more ranks do not
/// shorten. Flat over N: Amdahl's law holds. Rising: something grows with N. Negative: the
/// speed-up is more than n.
///
/// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "trainer/scaling/results.h"

namespace brigade::scaling {

/// Work a time, in any unit, of so many ranks. For strong scaling 1 / step time will do.
struct Speed {
  int64_t ranks = 1;
  double value = 0;  ///< positive
};

/// `n` is more than 1.
double karp_flatt(double speed_up, double n);

/// Of all but the first, which is the base and has the fewest ranks.
std::vector<KarpFlatt> karp_flatt(const std::vector<Speed>& speeds);

}  // namespace brigade::scaling
