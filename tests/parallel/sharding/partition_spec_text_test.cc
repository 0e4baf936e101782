// SPDX-License-Identifier: Apache-2.0
#include <random>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/sharding/partition_spec.h"
#include "tests/parallel/sharding/random_specs.h"
#include "tests/parallel/sharding/spelled.h"

namespace brigade::sharding {
namespace {

using ::testing::HasSubstr;

std::string parse_error(const std::string& text) {
  const Result<PartitionSpec> spec = PartitionSpec::parse(text);
  EXPECT_FALSE(spec.has_value()) << spec->to_string();
  return spec ? "" : spec.error().text;
}

TEST(PartitionSpecText, ReadsWhatItPrints) {
  for (const std::string text : {"()",
                                 "(\"data\")",
                                 "(None, \"data\")",
                                 "((\"tp\", \"dp_shard\"), None, \"x\")",
                                 "(){U:tp}",
                                 "(\"x\"){R:a,b}",
                                 "(None, \"x\"){U:a,b, R:c}",
                                 "(){Umax:a,b}",
                                 "(\"x\"){Umin:a, R:c}"}) {
    EXPECT_EQ(value_or_throw(PartitionSpec::parse(text)).to_string(), text);
  }
}

TEST(PartitionSpecText, ReadsSpellingsOfTheSameSpec) {
  const PartitionSpec spec({{"x"}, {}});
  for (const std::string text :
       {"('x', None)", "(\"x\",)", "(('x',), None,)", " ( \"x\" , ( ) ) ", "('x'){}"}) {
    EXPECT_EQ(value_or_throw(PartitionSpec::parse(text)), spec) << text;
  }
}

TEST(PartitionSpecText, SaysWhereATextIsWrong) {
  EXPECT_EQ(parse_error("data"), "expected (, found 'd' at position 1 of data");
  EXPECT_EQ(parse_error("(x)"),
            "expected None, an axis in quotes or a tuple of them, found 'x' at position 2 of (x)");
  EXPECT_EQ(parse_error("(\"x\""), "expected , or ), found the end at position 5 of (\"x\"");
  EXPECT_EQ(parse_error("(\"x)"), "expected the closing quote, found ')' at position 4 of (\"x)");
  EXPECT_THAT(parse_error("(){V:x}"),
              HasSubstr("expected U:, Umax:, Umin: (unreduced), R: (reduced) or }"));
  EXPECT_THAT(parse_error("(){U:}"), HasSubstr("expected the name of an axis, found '}'"));
  EXPECT_THAT(parse_error("(){U:x"), HasSubstr("found the end"));
  EXPECT_THAT(parse_error("() x"), HasSubstr("expected the end, found 'x' at position 4"));
}

TEST(PartitionSpecText, ReadsOneKindOfTermsAlone) {
  EXPECT_EQ(parse_error("(){U:a, Umax:b}"),
            "expected terms of one kind (sum), found 'U' at position 9 of (){U:a, Umax:b}");
  EXPECT_EQ(value_or_throw(PartitionSpec::parse("(){Umax:a, Umax:b}")).to_string(), "(){Umax:a,b}");
}

TEST(PartitionSpecText, ReadsWhatItPrintsWhateverItIs) {
  const mesh::Mesh mesh = mesh_of("v2,w1,x2,y3,z2");
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    const PartitionSpec drawn = random_legal_spec(random, mesh, random() % 5);
    constexpr Reduction kKinds[] = {Reduction::kSum, Reduction::kMax, Reduction::kMin};
    const PartitionSpec spec = drawn.with_unreduced(drawn.unreduced(), kKinds[random() % 3]);
    const Result<PartitionSpec> read = PartitionSpec::parse(spec.to_string());
    ASSERT_TRUE(read) << "seed " << seed << ": " << read.error().text;
    ASSERT_EQ(*read, spec) << "seed " << seed << ": " << spec.to_string();
  }
}

}  // namespace
}  // namespace brigade::sharding
