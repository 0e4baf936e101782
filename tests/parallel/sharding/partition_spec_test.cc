// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/partition_spec.h"

#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/parallel/sharding/spelled.h"

namespace brigade::sharding {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string check_error(const PartitionSpec& spec, const std::string& mesh, size_t rank) {
  const Result<void> legal = spec.check(mesh_of(mesh), rank);
  EXPECT_FALSE(legal.has_value());
  return legal ? "" : std::string(to_string(legal.error().code)) + ": " + legal.error().text;
}

TEST(PartitionSpec, IsEqualForEqualPlacements) {
  const PartitionSpec spec({{"data"}, {}});
  EXPECT_EQ(spec, PartitionSpec(std::vector<PartitionSpec::Dim>{{"data"}}));
  EXPECT_EQ(spec.hash(), PartitionSpec(std::vector<PartitionSpec::Dim>{{"data"}}).hash());
  EXPECT_NE(spec, PartitionSpec({{}, {"data"}}));
  EXPECT_NE(spec, spec.with_unreduced({"tp"}));
  EXPECT_EQ(spec.with_unreduced({"b", "a", "b"}), spec.with_unreduced({"a", "b"}));
  EXPECT_EQ(spec.with_unreduced({"a"}).with_unreduced({}), spec);
  EXPECT_NE(PartitionSpec({{"a", "b"}, {}}), PartitionSpec({{"b", "a"}, {}}));
}

TEST(PartitionSpec, KnowsTheStateOfEveryAxis) {
  const PartitionSpec spec =
      PartitionSpec({{}, {"x", "y"}}).with_unreduced({"u"}).with_reduced({"r"});
  EXPECT_EQ(spec.state("y"), AxisState::kSharded);
  EXPECT_EQ(spec.state("u"), AxisState::kUnreduced);
  EXPECT_EQ(spec.state("r"), AxisState::kReduced);
  EXPECT_EQ(spec.state("other"), AxisState::kReplicated);
  EXPECT_EQ(spec.dim_of("y"), 1);
  EXPECT_EQ(spec.dim_of("u"), -1);
  EXPECT_EQ(spec.dims(), 2U);
  EXPECT_THAT(spec.dim(1), ElementsAre("x", "y"));
  EXPECT_TRUE(spec.dim(7).empty());
}

TEST(PartitionSpec, ChangesOneDimAndKeepsTheRest) {
  const PartitionSpec spec = PartitionSpec({{"x"}, {"y"}}).with_reduced({"r"});
  EXPECT_EQ(spec.with_dim(1, {}).to_string(), "(\"x\"){R:r}");
  EXPECT_EQ(spec.with_dim(3, {"z"}).to_string(), "(\"x\", \"y\", None, \"z\"){R:r}");
}

TEST(PartitionSpec, HasAKindOfItsUnreducedSet) {
  const PartitionSpec sum = PartitionSpec({{"x"}}).with_unreduced({"u"});
  const PartitionSpec max = PartitionSpec({{"x"}}).with_unreduced({"u"}, Reduction::kMax);
  EXPECT_EQ(sum.unreduced_kind(), Reduction::kSum);
  EXPECT_EQ(max.unreduced_kind(), Reduction::kMax);
  EXPECT_NE(sum, max);
  EXPECT_NE(sum.hash(), max.hash());
  EXPECT_EQ(max.to_string(), "(\"x\"){Umax:u}");
  EXPECT_EQ(max.with_reduced({"r"}).with_dim(0, {}).to_string(), "(){Umax:u, R:r}");
  EXPECT_EQ(PartitionSpec({{"y"}}).with_sets_of(max).to_string(), "(\"y\"){Umax:u}");
  EXPECT_EQ(max.state("u"), AxisState::kUnreduced);
}

TEST(PartitionSpec, HasNoKindOfNoTerms) {
  EXPECT_EQ(PartitionSpec().with_unreduced({}, Reduction::kMin), PartitionSpec());
  const PartitionSpec max = PartitionSpec().with_unreduced({"u"}, Reduction::kMax);
  EXPECT_EQ(max.with_unreduced({}).unreduced_kind(), Reduction::kSum);
}

TEST(PartitionSpec, A12_RefusesMoreDimsThanTheTensorHas) {
  EXPECT_EQ(
      check_error(PartitionSpec({{}, {}, {}, {"x"}}), "x2", 3),
      "Type: spec (None, None, None, \"x\") splits dim 3 over x (2 parts), but the tensor has "
      "3 dims");
  EXPECT_THAT(check_error(PartitionSpec({{"x"}}), "x2", 0), HasSubstr("the tensor has 0 dims"));
  EXPECT_THAT(check_error(PartitionSpec({{}, {"x", "y"}}), "x2,y3", 1),
              HasSubstr("splits dim 1 over x, y (6 parts), but the tensor has 1 dim"));
  EXPECT_TRUE(PartitionSpec({{"x"}, {}, {}, {}}).check(mesh_of("x2"), 1));
}

TEST(PartitionSpec, A13_RefusesAnAxisUsedTwice) {
  EXPECT_EQ(
      check_error(PartitionSpec({{"x"}, {"x"}}), "x2,y2", 2),
      "Type: axis \"x\" (size 2) is used twice in spec (\"x\", \"x\"), for dim 0 and for dim 1");
  EXPECT_THAT(check_error(PartitionSpec({{"x", "x"}, {}}), "x2", 2),
              HasSubstr("for dim 0 and for dim 0"));
  EXPECT_EQ(check_error(PartitionSpec({{"x"}, {}}).with_reduced({"x"}), "x2", 2),
            "Type: axis \"x\" (size 2) is used twice in spec (\"x\"){R:x}, for dim 0 and for the "
            "reduced set");
  EXPECT_THAT(check_error(PartitionSpec({{"x"}, {}}).with_unreduced({"x"}), "x2", 2),
              HasSubstr("for dim 0 and for the unreduced set"));
  EXPECT_THAT(check_error(PartitionSpec().with_unreduced({"x"}).with_reduced({"x"}), "x2", 2),
              HasSubstr("for the unreduced set and for the reduced set"));
}

TEST(PartitionSpec, A15_RefusesAnAxisThatTheMeshLacks) {
  EXPECT_EQ(check_error(PartitionSpec({{}, {"z"}}), "x2,y3", 2),
            "Type: axis \"z\" of dim 1 in spec (None, \"z\") is not in the mesh x=2 x y=3; did you "
            "mean \"x\"?");
  EXPECT_THAT(check_error(PartitionSpec().with_reduced({"elsewhere"}), "x2", 2),
              HasSubstr("axis \"elsewhere\" of the reduced set"));
}

TEST(PartitionSpec, SuggestsTheNearestAxis) {
  const mesh::Mesh mesh = value_or_throw(mesh::Mesh::create({{"dp_shard", 2}, {"tp", 4}}));
  const Result<void> legal = PartitionSpec({{"dp_shrd"}}).check(mesh, 1);
  ASSERT_FALSE(legal);
  EXPECT_EQ(legal.error().text,
            "axis \"dp_shrd\" of dim 0 in spec (\"dp_shrd\") is not in the mesh dp_shard=2 x tp=4; "
            "did you mean \"dp_shard\"?");
  EXPECT_THAT(PartitionSpec().with_unreduced({"pt"}).check(mesh, 1).error().text,
              HasSubstr("axis \"pt\" of the unreduced set"));
}

TEST(PartitionSpec, SharesOneValueAmongThreads) {
  std::vector<PartitionSpec> made(8);
  std::vector<std::thread> threads;
  for (PartitionSpec& slot : made) {
    threads.emplace_back([&slot] {
      for (int i = 0; i < 200; ++i) {
        slot = PartitionSpec({{"a" + std::to_string(i)}, {"b"}});
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(std::unordered_set<PartitionSpec>(made.begin(), made.end()).size(), 1U);
}

}  // namespace
}  // namespace brigade::sharding
