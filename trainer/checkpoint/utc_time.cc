// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/utc_time.h"

#include <array>
#include <ctime>

namespace brigade::checkpoint {

std::string utc_time() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  gmtime_r(&now, &parts);
  std::array<char, 32> text = {};
  const size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), size};
}

}  // namespace brigade::checkpoint
