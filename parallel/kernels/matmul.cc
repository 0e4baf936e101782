// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/matmul.h"

#include <dlfcn.h>
#include <omp.h>

#include "parallel/base/check.h"
#include "parallel/kernels/onednn_module.h"

namespace brigade::kernels {
namespace {

// Sanitizers intercept symbols, which binding past them would undo.
#if defined(__SANITIZE_ADDRESS__)
constexpr int kLoadMode = RTLD_NOW | RTLD_LOCAL;
#else
constexpr int kLoadMode = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
#endif

const OneDnnModule& load_module() {
  void* module = dlopen("libbrigade_onednn.so", kLoadMode);
  BRIGADE_CHECK(module != nullptr, dlerror());
  void* door = dlsym(module, "brigade_onednn_module");
  BRIGADE_CHECK(door != nullptr, dlerror());
  return *reinterpret_cast<const OneDnnModule* (*)()>(door)();
}

/// Loaded at the first product, never unloaded.
const OneDnnModule& onednn() {
  static const OneDnnModule& module = load_module();
  return module;
}

}  // namespace

void matmul(DType dtype,
            int64_t batch,
            int64_t m,
            int64_t n,
            int64_t k,
            const MatmulOperand& a,
            const MatmulOperand& b,
            const MatmulResult& c,
            bool accumulate) {
  onednn().matmul(dtype, batch, m, n, k, a, b, c, accumulate);
}

bool matmul_supports(DType dtype) {
  static const bool float32 = onednn().supports(DType::kFloat32);
  static const bool bfloat16 = onednn().supports(DType::kBFloat16);
  return dtype == DType::kFloat32 ? float32 : dtype == DType::kBFloat16 && bfloat16;
}

void set_matmul_threads(int threads) {
  BRIGADE_CHECK(threads >= 1, threads);
  omp_set_num_threads(threads);
}

int matmul_threads() {
  return omp_get_max_threads();
}

}  // namespace brigade::kernels
