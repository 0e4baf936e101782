// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/cross_entropy.h"

#include <algorithm>

#include "parallel/kernels/dispatch.h"
#include "parallel/kernels/exp.h"
#include "parallel/kernels/lanes.h"

namespace brigade::kernels {
namespace {

/// The target's place among the classes held here, or -1.
template <Element T>
inline int64_t local_target(const LocalLogits<T>& logits, int64_t target) {
  const int64_t place = target - logits.first;
  return target != kNotTrained && place >= 0 && place < logits.local ? place : -1;
}

}  // namespace

template <Element T>
BRIGADE_CLONES void row_max(const LocalLogits<T>& logits, int64_t begin, int64_t end, float* max) {
  for (int64_t row = begin; row < end; ++row) {
    max[row] = max_floats(logits.values + row * logits.local, logits.local);
  }
}

template <Element T>
BRIGADE_CLONES void row_sum_exp(
    const LocalLogits<T>& logits, const float* max, int64_t begin, int64_t end, float* sum) {
  for (int64_t row = begin; row < end; ++row) {
    const T* x = logits.values + row * logits.local;
    const float shift = max[row];
    sum[row] = static_cast<float>(sum_doubles(
        logits.local, [&](int64_t i) { return static_cast<double>(exp(widen(x[i]) - shift)); }));
  }
}

template <Element T>
void pick_targets(const LocalLogits<T>& logits,
                  const int64_t* targets,
                  int64_t begin,
                  int64_t end,
                  float* picked) {
  for (int64_t row = begin; row < end; ++row) {
    const int64_t place = local_target(logits, targets[row]);
    picked[row] = place < 0 ? 0.0F : widen(logits.values[row * logits.local + place]);
  }
}

template <Element T>
BRIGADE_CLONES void cross_entropy_gradient(const LocalLogits<T>& logits,
                                           const float* max,
                                           const float* sum,
                                           const int64_t* targets,
                                           const float* scales,
                                           int64_t begin,
                                           int64_t end,
                                           T* dlogits) {
  for (int64_t row = begin; row < end; ++row) {
    const T* x = logits.values + row * logits.local;
    T* d = dlogits + row * logits.local;
    if (targets[row] == kNotTrained) {
      std::fill_n(d, logits.local, T{});
      continue;
    }
    const float shift = max[row];
    const float scale = scales[row];
    const float inverse = 1.0F / sum[row];
    const int64_t place = local_target(logits, targets[row]);
    const float target_logit = place < 0 ? 0.0F : widen(x[place]);
#pragma GCC ivdep
    for (int64_t i = 0; i < logits.local; ++i) {
      d[i] = narrow<T>(exp(widen(x[i]) - shift) * inverse * scale);
    }
    if (place >= 0) {
      d[place] = narrow<T>((exp(target_logit - shift) * inverse - 1.0F) * scale);
    }
  }
}

template void row_max(const LocalLogits<float>&, int64_t, int64_t, float*);
template void row_max(const LocalLogits<BFloat16>&, int64_t, int64_t, float*);
template void row_sum_exp(const LocalLogits<float>&, const float*, int64_t, int64_t, float*);
template void row_sum_exp(const LocalLogits<BFloat16>&, const float*, int64_t, int64_t, float*);
template void pick_targets(const LocalLogits<float>&, const int64_t*, int64_t, int64_t, float*);
template void pick_targets(const LocalLogits<BFloat16>&, const int64_t*, int64_t, int64_t, float*);
template void cross_entropy_gradient(const LocalLogits<float>&,
                                     const float*,
                                     const float*,
                                     const int64_t*,
                                     const float*,
                                     int64_t,
                                     int64_t,
                                     float*);
template void cross_entropy_gradient(const LocalLogits<BFloat16>&,
                                     const float*,
                                     const float*,
                                     const int64_t*,
                                     const float*,
                                     int64_t,
                                     int64_t,
                                     BFloat16*);

}  // namespace brigade::kernels
