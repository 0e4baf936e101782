// SPDX-License-Identifier: Apache-2.0
#include "models/decoder/units.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/check.h"

namespace brigade::decoder {
namespace {

using ::testing::ElementsAre;

TEST(Units, FollowTheForwardThroughTheStages) {
  EXPECT_THAT(unit_names(2, 0, 1), ElementsAre("embedding", "block.0", "block.1", "head"));
  EXPECT_THAT(unit_names(5, 0, 2), ElementsAre("embedding", "block.0", "block.1"));
  EXPECT_THAT(unit_names(5, 1, 2), ElementsAre("block.2", "block.3", "block.4", "head"));
  EXPECT_THAT(unit_names(4, 1, 4), ElementsAre("block.1"));
}

TEST(Units, R069PutEveryLayerOnOneStageWithSizesThatDifferByOne) {
  for (int64_t layers = 1; layers <= 9; ++layers) {
    for (int64_t stages = 1; stages <= std::min<int64_t>(layers, 5); ++stages) {
      int64_t next = 0;
      for (int64_t stage = 0; stage < stages; ++stage) {
        const sharding::Interval on_stage = stage_layers(layers, stage, stages);
        EXPECT_EQ(on_stage.begin, next);
        EXPECT_GE(on_stage.size(), layers / stages);
        EXPECT_LE(on_stage.size(), (layers + stages - 1) / stages);
        next = on_stage.end;
      }
      EXPECT_EQ(next, layers);
    }
  }
}

TEST(Units, KnowTheirLayer) {
  EXPECT_EQ(layer_of(block_unit(12)), 12);
  EXPECT_THROW(layer_of("head"), CheckFailure);
  EXPECT_THROW(layer_of("block.x"), CheckFailure);
}

}  // namespace
}  // namespace brigade::decoder
