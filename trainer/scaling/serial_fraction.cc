// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/serial_fraction.h"

#include "trainer/scaling/karp_flatt.h"

namespace brigade::scaling {
namespace {

bool is_communication(Part part) {
  return part == Part::kTensor || part == Part::kData || part == Part::kZero ||
         part == Part::kPipeline;
}

double without_communication(const Breakdown& breakdown) {
  double sum = 0.0;
  for (size_t part = 0; part < kParts; ++part) {
    sum += is_communication(static_cast<Part>(part)) ? 0.0 : breakdown[part];
  }
  return sum;
}

}  // namespace

std::optional<double> serial_fraction(const std::vector<SizedBreakdown>& sizes, Scaling scaling) {
  if (sizes.empty() || scaling == Scaling::kMemoryConstrained) {
    return std::nullopt;
  }
  const double n =
      static_cast<double>(sizes.back().ranks) / static_cast<double>(sizes.front().ranks);
  const double base = without_communication(sizes.front().breakdown);
  const double last = without_communication(sizes.back().breakdown);
  if (!(n > 1.0 && base > 0.0 && last > 0.0)) {
    return std::nullopt;
  }
  if (scaling == Scaling::kWeak) {
    return (n - n * base / last) / (n - 1.0);
  }
  return karp_flatt(base / last, n);
}

}  // namespace brigade::scaling
