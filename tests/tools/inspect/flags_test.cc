// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/text.h"

namespace brigade::inspect {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string refusal(const std::vector<std::string>& arguments) {
  const Result<Flags> flags = parse_flags(arguments);
  if (flags) {
    return "accepted";
  }
  EXPECT_EQ(flags.error().code, ErrorCode::kUsage);
  return flags.error().text;
}

TEST(InspectFlags, ReadBothCommands) {
  const Flags one = value_or_throw(parse_flags({"checkpoint", "--verify", "a", "--json"}));
  EXPECT_EQ(one.what, What::kCheckpoint);
  EXPECT_THAT(one.paths, ElementsAre("a"));
  EXPECT_TRUE(one.verify && one.json);
  const Flags two = value_or_throw(parse_flags({"diff", "a", "b"}));
  EXPECT_EQ(two.what, What::kDiff);
  EXPECT_THAT(two.paths, ElementsAre("a", "b"));
  EXPECT_EQ(two.tolerance, std::nullopt);
}

TEST(InspectFlags, TakeTheToleranceInOneArgumentOrTwo) {
  EXPECT_EQ(value_or_throw(parse_flags({"diff", "a", "b", "--tolerance=1e-6"})).tolerance, 1e-6);
  EXPECT_EQ(value_or_throw(parse_flags({"diff", "--tolerance", "0", "a", "b"})).tolerance, 0.0);
}

TEST(InspectFlags, RefuseAToleranceThatIsNone) {
  for (const char* text : {"-1", "nan", "inf", "1x", ""}) {
    EXPECT_THAT(refusal({"diff", "a", "b", concat("--tolerance=", text)}),
                AllOf(HasSubstr("0 or more"), HasSubstr(concat('`', text, '`'))));
  }
  EXPECT_THAT(refusal({"diff", "a", "b", "--tolerance"}), HasSubstr("0 or more"));
}

TEST(InspectFlags, NameTheNearestOfWhatIsMisspelt) {
  EXPECT_THAT(refusal({"checkpoint", "a", "--verfy"}), HasSubstr("nearest is --verify"));
  EXPECT_THAT(refusal({"diff", "a", "b", "--tolerence=1"}), HasSubstr("nearest is --tolerance"));
  EXPECT_THAT(refusal({"diff", "a", "b", "--json"}), HasSubstr("of diff"));
  EXPECT_THAT(refusal({"checkpont", "a"}), HasSubstr("nearest is checkpoint"));
  EXPECT_THAT(refusal({"everything"}), HasSubstr("diff A B"));
  EXPECT_THAT(refusal({}), HasSubstr("checkpoint PATH"));
}

TEST(InspectFlags, CountThePaths) {
  EXPECT_THAT(refusal({"checkpoint"}), HasSubstr("one folder; given were 0"));
  EXPECT_THAT(refusal({"checkpoint", "a", "b"}), HasSubstr("given were 2: a, b"));
  EXPECT_THAT(refusal({"diff", "a"}), HasSubstr("A and B; given were 1: a"));
}

TEST(InspectFlags, HelpWinsOverAllElse) {
  EXPECT_EQ(value_or_throw(parse_flags({"--help"})).what, What::kHelp);
  EXPECT_EQ(value_or_throw(parse_flags({"diff", "-h", "--nonsense"})).what, What::kHelp);
  EXPECT_THAT(help_text(), AllOf(HasSubstr("--tolerance=X"), HasSubstr("Exit codes: 0")));
}

}  // namespace
}  // namespace brigade::inspect
