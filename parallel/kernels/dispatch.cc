// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/dispatch.h"

namespace brigade::kernels {

BRIGADE_CLONES std::string_view instruction_set() {
  // The compiler defines these per translation unit, not per clone: ask the processor as the
  // loader did.
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)
  if (__builtin_cpu_supports("x86-64-v4") != 0) {
    return "x86-64-v4";
  }
  if (__builtin_cpu_supports("x86-64-v3") != 0) {
    return "x86-64-v3";
  }
#endif
  return "baseline";
}

}  // namespace brigade::kernels
