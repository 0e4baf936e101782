// SPDX-License-Identifier: Apache-2.0
#include "tools/scale/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade::scale {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string complaint(const std::vector<std::string>& arguments) {
  const Result<Flags> flags = parse_flags(arguments);
  EXPECT_FALSE(flags);
  EXPECT_EQ(flags ? ErrorCode::kInternal : flags.error().code, ErrorCode::kUsage);
  return flags ? "" : flags.error().text;
}

TEST(ScaleFlags, HaveDefaults) {
  const Flags flags = value_or_throw(parse_flags({"--config", "s.toml"}));
  EXPECT_EQ(flags.config, "s.toml");
  EXPECT_FALSE(flags.list);
  EXPECT_FALSE(flags.again);
  EXPECT_FALSE(flags.help);
}

TEST(ScaleFlags, AreRead) {
  const Flags flags = value_or_throw(parse_flags({"--config=s.toml", "--list", "--again"}));
  EXPECT_TRUE(flags.list);
  EXPECT_TRUE(flags.again);
}

TEST(ScaleFlags, OfOneCommandDoNotStayForTheNext) {
  ASSERT_TRUE(parse_flags({"--config=s.toml", "--list"}));
  EXPECT_FALSE(value_or_throw(parse_flags({"--config=s.toml"})).list);
  EXPECT_THAT(complaint({"--list"}), HasSubstr("--config=FILE is missing"));
}

TEST(ScaleFlags, AreRefusedByNameWithWhatIsAccepted) {
  EXPECT_EQ(complaint({}),
            "--config=FILE is missing: a study such as configs/studies/two_ranks.toml");
  EXPECT_THAT(complaint({"--confg=s.toml"}),
              AllOf(HasSubstr("unknown flag --confg"), HasSubstr("the nearest is --config")));
  EXPECT_THAT(complaint({"--config=s.toml", "--gain"}), HasSubstr("the nearest is --again"));
  EXPECT_EQ(complaint({"s.toml"}),
            "unexpected argument `s.toml`; the study is --config=FILE; its settings stand in that "
            "file");
  EXPECT_EQ(complaint({"--config"}), "--config needs a value: --config=FILE");
  EXPECT_EQ(complaint({"--config=s.toml", "--list=perhaps"}), "not a value of --list=perhaps");
}

TEST(ScaleFlags, AreHelpedWithoutAStudy) {
  EXPECT_TRUE(value_or_throw(parse_flags({"--help"})).help);
  EXPECT_THAT(help_text(),
              AllOf(HasSubstr("usage: brigade scale"),
                    HasSubstr("--config=FILE "),
                    HasSubstr("--list "),
                    HasSubstr("--again "),
                    HasSubstr("Exit codes: 0 measured; 1 ")));
}

}  // namespace
}  // namespace brigade::scale
