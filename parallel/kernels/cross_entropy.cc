// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/cross_entropy.h"

#include <algorithm>

#include "parallel/kernels/dispatch.h"
#include "parallel/kernels/exp.h"
#include "parallel/kernels/lanes.h"

namespace brigade::kernels {
namespace {

/// The target's place among the classes held here, or -1.
inline int64_t local_target(const LocalLogits& logits, int64_t target) {
  const int64_t place = target - logits.first;
  return target != kNotTrained && place >= 0 && place < logits.local ? place : -1;
}

}  // namespace

BRIGADE_CLONES void row_max(const LocalLogits& logits, int64_t begin, int64_t end, float* max) {
  for (int64_t row = begin; row < end; ++row) {
    max[row] = max_floats(logits.values + row * logits.local, logits.local);
  }
}

BRIGADE_CLONES void row_sum_exp(
    const LocalLogits& logits, const float* max, int64_t begin, int64_t end, float* sum) {
  for (int64_t row = begin; row < end; ++row) {
    const float* x = logits.values + row * logits.local;
    const float shift = max[row];
    sum[row] = static_cast<float>(sum_doubles(
        logits.local, [&](int64_t i) { return static_cast<double>(exp(x[i] - shift)); }));
  }
}

void pick_targets(
    const LocalLogits& logits, const int64_t* targets, int64_t begin, int64_t end, float* picked) {
  for (int64_t row = begin; row < end; ++row) {
    const int64_t place = local_target(logits, targets[row]);
    picked[row] = place < 0 ? 0.0F : logits.values[row * logits.local + place];
  }
}

BRIGADE_CLONES void cross_entropy_gradient(const LocalLogits& logits,
                                           const float* max,
                                           const float* sum,
                                           const int64_t* targets,
                                           const float* scales,
                                           int64_t begin,
                                           int64_t end,
                                           float* dlogits) {
  for (int64_t row = begin; row < end; ++row) {
    const float* x = logits.values + row * logits.local;
    float* d = dlogits + row * logits.local;
    if (targets[row] == kNotTrained) {
      std::fill_n(d, logits.local, 0.0F);
      continue;
    }
    const float shift = max[row];
    const float scale = scales[row];
    const float inverse = 1.0F / sum[row];
    const int64_t place = local_target(logits, targets[row]);
    const float target_logit = place < 0 ? 0.0F : x[place];
#pragma GCC ivdep
    for (int64_t i = 0; i < logits.local; ++i) {
      d[i] = exp(x[i] - shift) * inverse * scale;
    }
    if (place >= 0) {
      d[place] = (exp(target_logit - shift) * inverse - 1.0F) * scale;
    }
  }
}

}  // namespace brigade::kernels
