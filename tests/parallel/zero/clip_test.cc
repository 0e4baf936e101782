// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/clip.h"

#include <gtest/gtest.h>

namespace brigade::zero {
namespace {

TEST(Clip, ClipsByTheNormAsTorchDoes) {
  EXPECT_EQ(clip_factor(4.0, 1.0), 1.0 / (4.0 + 1e-6));
  EXPECT_EQ(clip_factor(1.0, 1.0), 1.0) << "no larger than max_norm";
  EXPECT_EQ(clip_factor(0.0, 1.0), 1.0);
  EXPECT_EQ(clip_factor(1e30, 0.0), 1.0) << "max_norm = 0 means no clipping";
}

}  // namespace
}  // namespace brigade::zero
