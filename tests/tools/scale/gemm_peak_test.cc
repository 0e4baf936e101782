// SPDX-License-Identifier: Apache-2.0
#include "tools/scale/gemm_peak.h"

#include <cmath>

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

namespace brigade::scale {
namespace {

TEST(GemmPeak, IsARateThatAMachineCanHave) {
  for (const DType dtype : {DType::kFloat32, DType::kBFloat16}) {
    const double peak = gemm_peak(dtype, 1);
    EXPECT_TRUE(std::isfinite(peak)) << to_string(dtype);
    // Below: 2 s a product of 1024. Above: no core that is sold.
    EXPECT_GT(peak, 1e9) << to_string(dtype);
    EXPECT_LT(peak, 1e14) << to_string(dtype);
    EXPECT_EQ(at::get_num_threads(), 1);
  }
}

}  // namespace
}  // namespace brigade::scale
