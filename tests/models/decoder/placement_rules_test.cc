// SPDX-License-Identifier: Apache-2.0
#include "models/decoder/placement_rules.h"

#include <gtest/gtest.h>

namespace brigade::decoder {
namespace {

TEST(PlacementRules, SplitOverTensorRanksAlone) {
  for (const auto& [axis, mesh_axes] : tensor_parallel_rules()) {
    EXPECT_EQ(mesh_axes, mesh::AxisNames{"tp"}) << axis;
  }
  EXPECT_FALSE(tensor_parallel_rules().contains("norm"));
  EXPECT_FALSE(tensor_parallel_rules().contains("embed"));
}

TEST(PlacementRules, UseByPartsWhatTheyDoNotSplit) {
  for (const auto& [axis, mesh_axes] : sequence_parallel_rules()) {
    EXPECT_EQ(mesh_axes, mesh::AxisNames{"tp"}) << axis;
    EXPECT_FALSE(tensor_parallel_rules().contains(axis)) << axis;
  }
}

}  // namespace
}  // namespace brigade::decoder
