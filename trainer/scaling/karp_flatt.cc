// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/karp_flatt.h"

#include "parallel/base/check.h"

namespace brigade::scaling {

double karp_flatt(double speed_up, double n) {
  BRIGADE_CHECK(speed_up > 0.0 && n > 1.0, speed_up, n);
  return (1.0 / speed_up - 1.0 / n) / (1.0 - 1.0 / n);
}

std::vector<KarpFlatt> karp_flatt(const std::vector<Speed>& speeds) {
  std::vector<KarpFlatt> found;
  for (const Speed& speed : speeds) {
    const Speed& base = speeds.front();
    if (speed.ranks > base.ranks) {
      const double n = static_cast<double>(speed.ranks) / static_cast<double>(base.ranks);
      found.push_back(
          {.ranks = speed.ranks, .serial_fraction = karp_flatt(speed.value / base.value, n)});
    }
  }
  return found;
}

}  // namespace brigade::scaling
