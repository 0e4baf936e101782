// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/adamw.h"

#include <cmath>

#include "parallel/base/check.h"
#include "parallel/kernels/dispatch.h"

namespace brigade::kernels {

AdamWStep adamw_step(const AdamWSettings& settings, int64_t step, double gradient_factor) {
  BRIGADE_CHECK(step >= 1, step);
  const double count = static_cast<double>(step);
  return {
      .gradient_factor = static_cast<float>(gradient_factor),
      .decay = static_cast<float>(1.0 - settings.learning_rate * settings.weight_decay),
      .first_rate = static_cast<float>(1.0 - settings.beta1),
      .beta2 = static_cast<float>(settings.beta2),
      .second_rate = static_cast<float>(1.0 - settings.beta2),
      .step_size =
          static_cast<float>(settings.learning_rate / (1.0 - std::pow(settings.beta1, count))),
      .root_bias_correction = static_cast<float>(std::sqrt(1.0 - std::pow(settings.beta2, count))),
      .eps = static_cast<float>(settings.eps)};
}

BRIGADE_CLONES void adamw(const AdamWStep& step,
                          const float* gradient,
                          float* weight,
                          float* first_moment,
                          float* second_moment,
                          int64_t begin,
                          int64_t end) {
  const AdamWStep s = step;  // no store below can reach a local
#pragma GCC ivdep
  for (int64_t i = begin; i < end; ++i) {
    const float g = s.gradient_factor * gradient[i];
    const float m = first_moment[i] + s.first_rate * (g - first_moment[i]);
    const float v = s.beta2 * second_moment[i] + s.second_rate * g * g;
    const float denominator = std::sqrt(v) / s.root_bias_correction + s.eps;
    first_moment[i] = m;
    second_moment[i] = v;
    weight[i] = weight[i] * s.decay - s.step_size * m / denominator;
  }
}

BRIGADE_CLONES void sgd(float learning_rate,
                        float weight_decay,
                        float gradient_factor,
                        const float* gradient,
                        float* weight,
                        int64_t begin,
                        int64_t end) {
#pragma GCC ivdep
  for (int64_t i = begin; i < end; ++i) {
    const float g = gradient_factor * gradient[i] + weight_decay * weight[i];
    weight[i] = weight[i] - learning_rate * g;
  }
}

}  // namespace brigade::kernels
