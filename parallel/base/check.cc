// SPDX-License-Identifier: Apache-2.0
#include "parallel/base/check.h"

#include "parallel/base/text.h"

namespace brigade {

void check_failed(const char* expression, const char* file, int line, const std::string& values) {
  throw CheckFailure(
      concat("internal error: ", expression, " does not hold at ", file, ":", line, values));
}

}  // namespace brigade
