// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/process_memory.h"

#include <limits>
#include <malloc.h>

namespace brigade::loop {

void keep_freed_memory() {
#ifdef M_MMAP_THRESHOLD
  constexpr int kNever = std::numeric_limits<int>::max();
  mallopt(M_MMAP_THRESHOLD, kNever);
  mallopt(M_TRIM_THRESHOLD, kNever);
#endif
}

}  // namespace brigade::loop
