// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/results.h"

namespace brigade::scaling {

std::string_view to_string(Scaling scaling) {
  switch (scaling) {
    case Scaling::kStrong: return "strong";
    case Scaling::kWeak: return "weak";
    case Scaling::kMemoryConstrained: return "memory_constrained";
  }
  return "unknown";
}

std::string_view to_string(Part part) {
  switch (part) {
    case Part::kCompute: return "compute";
    case Part::kTensor: return "exposed tensor";
    case Part::kData: return "exposed data";
    case Part::kZero: return "exposed ZeRO";
    case Part::kPipeline: return "exposed pipeline";
    case Part::kBubble: return "bubble";
    case Part::kOptimizer: return "optimizer";
    case Part::kLoading: return "data";
    case Part::kIdle: return "idle";
  }
  return "unknown";
}

Breakdown PointResult::breakdown() const {
  Breakdown mean = {};
  for (const Breakdown& rank : breakdown_by_rank) {
    for (size_t part = 0; part < kParts; ++part) {
      mean[part] += rank[part] / static_cast<double>(breakdown_by_rank.size());
    }
  }
  return mean;
}

}  // namespace brigade::scaling
