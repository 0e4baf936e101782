// SPDX-License-Identifier: Apache-2.0
/// Drawn shapes with noise: disc, frame, cross and stripes, each a function of its index alone.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace shapes {

inline constexpr int64_t kClasses = 4;
inline constexpr int64_t kSide = 16;

struct Batch {
  at::Tensor images;  ///< fp32 [n, 1, kSide, kSide]
  at::Tensor labels;  ///< int64 [n], 0 to kClasses - 1
};

/// The images of these indices, int64 [n]: the same wherever and whenever they are drawn.
Batch draw(const at::Tensor& indices);

}  // namespace shapes
