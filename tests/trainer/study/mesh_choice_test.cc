// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/mesh_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade::study {
namespace {

using ::testing::HasSubstr;

TEST(MeshChoice, ARulePutsAllRanksAlongItsAxis) {
  EXPECT_EQ(mesh_choice("dp", 4)->degrees, (Degrees{.dp_shard = 4}));
  EXPECT_EQ(mesh_choice("dp_replicate", 4)->degrees, (Degrees{.dp_replicate = 4}));
  EXPECT_EQ(mesh_choice("tp", 4)->degrees, (Degrees{.tp = 4}));
  EXPECT_EQ(mesh_choice("pp", 1)->degrees, Degrees{});
  EXPECT_EQ(mesh_choice("dp_shard", 4)->family, "dp");
}

TEST(MeshChoice, SizesMayBeWrittenInTheMeshesOwnWayToo) {
  const Degrees wanted = {.pp = 2, .dp_shard = 2, .tp = 3};
  EXPECT_EQ(mesh_choice("dp2 x tp3 x pp2", 12)->degrees, wanted);
  EXPECT_EQ(mesh_choice("pp=2 x dp_replicate=1 x dp_shard=2 x tp=3", 12)->degrees, wanted);
  EXPECT_EQ(mesh_choice("dp2xtp3xpp2", 12)->degrees, wanted);
}

TEST(MeshChoice, MeshesThatDifferByTheirFirstAxisAreOneFamily) {
  EXPECT_EQ(mesh_choice("dp2 x tp2", 4)->family, "dp x tp2");
  EXPECT_EQ(mesh_choice("dp8 x tp2", 16)->family, "dp x tp2");
  EXPECT_EQ(mesh_choice("tp2 x pp4", 8)->family, "tp x pp4");
  EXPECT_EQ(mesh_choice("tp8", 8)->family, mesh_choice("tp", 2)->family);
  EXPECT_EQ(family_of({}), "one rank");
}

TEST(MeshChoice, WhatIsNoMeshIsShownBesideWhatIsOne) {
  for (const char* text :
       {"", "x", "dp", "dq2", "dp0", "dp2 x", "dp2 tp2", "dp2.5", "dp99999999"}) {
    const auto degrees = parse_degrees(text);
    ASSERT_FALSE(degrees) << text;
    EXPECT_THAT(degrees.error().text, HasSubstr("\"dp2 x tp2\"")) << text;
  }
  EXPECT_THAT(parse_degrees("dp2 x dp_shard2").error().text, HasSubstr("stands twice"));
  EXPECT_EQ(mesh_choice("dp2 x tp2", 8).error().text,
            "the mesh \"dp2 x tp2\" is for 4 ranks, not 8");
}

TEST(MeshChoice, IsPrintedAsAStudyWritesIt) {
  const Degrees degrees = {.pp = 2, .dp_shard = 2};
  EXPECT_EQ(to_string(degrees), "dp2 x pp2");
  EXPECT_EQ(*parse_degrees(to_string(degrees)), degrees);
}

}  // namespace
}  // namespace brigade::study
