// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/dispatch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade::kernels {
namespace {

TEST(Dispatch, NamesTheInstructionSetThatRuns) {
  EXPECT_THAT(instruction_set(), testing::AnyOf("x86-64-v4", "x86-64-v3", "baseline"));
}

}  // namespace
}  // namespace brigade::kernels
