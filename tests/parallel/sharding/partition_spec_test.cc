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

std::string parse_error(const std::string& text) {
  const Result<PartitionSpec> spec = PartitionSpec::parse(text);
  EXPECT_FALSE(spec.has_value()) << spec->to_string();
  return spec ? "" : spec.error().text;
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

TEST(PartitionSpec, ReadsWhatItPrints) {
  for (const std::string text : {"()",
                                 "(\"data\")",
                                 "(None, \"data\")",
                                 "((\"tp\", \"dp_shard\"), None, \"x\")",
                                 "(){U:tp}",
                                 "(\"x\"){R:a,b}",
                                 "(None, \"x\"){U:a,b, R:c}"}) {
    EXPECT_EQ(value_or_throw(PartitionSpec::parse(text)).to_string(), text);
  }
}

TEST(PartitionSpec, ReadsSpellingsOfTheSameSpec) {
  const PartitionSpec spec({{"x"}, {}});
  for (const std::string text :
       {"('x', None)", "(\"x\",)", "(('x',), None,)", " ( \"x\" , ( ) ) ", "('x'){}"}) {
    EXPECT_EQ(value_or_throw(PartitionSpec::parse(text)), spec) << text;
  }
}

TEST(PartitionSpec, SaysWhereATextIsWrong) {
  EXPECT_EQ(parse_error("data"), "expected (, found 'd' at position 1 of data");
  EXPECT_EQ(parse_error("(x)"),
            "expected None, an axis in quotes or a tuple of them, found 'x' at position 2 of (x)");
  EXPECT_EQ(parse_error("(\"x\""), "expected , or ), found the end at position 5 of (\"x\"");
  EXPECT_EQ(parse_error("(\"x)"), "expected the closing quote, found ')' at position 4 of (\"x)");
  EXPECT_THAT(parse_error("(){V:x}"), HasSubstr("expected U: (unreduced), R: (reduced) or }"));
  EXPECT_THAT(parse_error("(){U:}"), HasSubstr("expected the name of an axis, found '}'"));
  EXPECT_THAT(parse_error("(){U:x"), HasSubstr("found the end"));
  EXPECT_THAT(parse_error("() x"), HasSubstr("expected the end, found 'x' at position 4"));
}

TEST(PartitionSpec, RefusesMoreDimsThanTheTensorHasInRowA12) {
  EXPECT_EQ(check_error(PartitionSpec({{}, {}, {}, {"x"}}), "x2", 3),
            "Type: spec (None, None, None, \"x\") splits dim 3 over x, but the tensor has 3 dims");
  EXPECT_TRUE(PartitionSpec({{"x"}, {}, {}, {}}).check(mesh_of("x2"), 1));
}

TEST(PartitionSpec, RefusesAnAxisUsedTwiceInRowA13) {
  EXPECT_EQ(
      check_error(PartitionSpec({{"x"}, {"x"}}), "x2,y2", 2),
      "Type: axis \"x\" (size 2) is used twice in spec (\"x\", \"x\"), for dim 0 and for dim 1");
  EXPECT_THAT(check_error(PartitionSpec({{"x", "x"}, {}}), "x2", 2),
              HasSubstr("for dim 0 and for dim 0"));
  EXPECT_THAT(check_error(PartitionSpec({{"x"}, {}}).with_unreduced({"x"}), "x2", 2),
              HasSubstr("for dim 0 and for the unreduced set"));
  EXPECT_THAT(check_error(PartitionSpec().with_unreduced({"x"}).with_reduced({"x"}), "x2", 2),
              HasSubstr("for the unreduced set and for the reduced set"));
}

TEST(PartitionSpec, RefusesAnAxisThatTheMeshLacksInRowA15) {
  EXPECT_EQ(check_error(PartitionSpec({{}, {"z"}}), "x2,y3", 2),
            "Type: axis \"z\" of dim 1 in spec (None, \"z\") is not in the mesh x=2 x y=3; did you "
            "mean \"x\"?");
  EXPECT_THAT(check_error(PartitionSpec().with_reduced({"elsewhere"}), "x2", 2),
              HasSubstr("axis \"elsewhere\" of the reduced set"));
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
