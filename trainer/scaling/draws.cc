// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/draws.h"

#include "parallel/base/check.h"
#include "parallel/base/philox.h"

namespace brigade::scaling {

Draws::Draws(uint64_t seed, std::string_view purpose)
    : seed_(seed), stream_(random_stream("bootstrap", purpose)) {}

size_t Draws::below(size_t count) {
  BRIGADE_CHECK(count >= 1 && count <= UINT32_MAX, count);
  if (taken_ % 4 == 0) {
    block_ = philox(seed_, taken_ / 4, 0, stream_);
  }
  const uint64_t word = block_[taken_++ % 4];
  return (word * count) >> 32;
}

}  // namespace brigade::scaling
