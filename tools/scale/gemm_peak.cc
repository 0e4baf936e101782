// SPDX-License-Identifier: Apache-2.0
#include "tools/scale/gemm_peak.h"

#include <algorithm>
#include <chrono>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>

#include "parallel/tensor/matmul.h"

namespace brigade::scale {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr int64_t kSize = 1024;
constexpr int kLeastProducts = 12;
constexpr Seconds kLeastTime{0.3};

double best_seconds(tensor::MatmulBackend backend, at::ScalarType type) {
  const at::Tensor a = at::ones({kSize, kSize}, type);
  const at::Tensor b = at::ones({kSize, kSize}, type);
  at::Tensor out = at::empty({kSize, kSize}, type);
  const tensor::MatmulTable table = {backend, backend};
  double best = 1e9;
  const Clock::time_point begin = Clock::now();
  for (int i = 0; i < kLeastProducts || Clock::now() - begin < kLeastTime; ++i) {
    const Clock::time_point product = Clock::now();
    tensor::matmul_into(table, a, b, out, /*accumulate=*/false);
    best = std::min(best, Seconds(Clock::now() - product).count());
  }
  return best;
}

}  // namespace

double gemm_peak(DType dtype, int64_t threads) {
  const c10::NoGradGuard no_history;
  at::set_num_threads(static_cast<int>(threads));
  const at::ScalarType type = dtype == DType::kBFloat16 ? at::kBFloat16 : at::kFloat;
  const double best = std::min(best_seconds(tensor::MatmulBackend::kLibtorch, type),
                               best_seconds(tensor::MatmulBackend::kOneDnn, type));
  return 2.0 * kSize * kSize * kSize / best;
}

}  // namespace brigade::scale
