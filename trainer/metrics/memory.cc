// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/memory.h"

#include <fstream>
#include <string>

namespace brigade::metrics {
namespace {

int64_t status_bytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.compare(0, field.size(), field) == 0) {
      constexpr int64_t kKibibyte = 1024;
      return std::stoll(line.substr(field.size())) * kKibibyte;
    }
  }
  return 0;
}

}  // namespace

int64_t resident_bytes() {
  return status_bytes("VmRSS:");
}

int64_t peak_resident_bytes() {
  return status_bytes("VmHWM:");
}

}  // namespace brigade::metrics
