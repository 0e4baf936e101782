// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/flag_table.h"

#include <array>

#include <gflags/gflags.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

DEFINE_string(flag_table_test_out_folder, "nowhere", "where it goes");
DEFINE_bool(flag_table_test_quiet, false, "say nothing");
DEFINE_int32(flag_table_test_count, 1, "how many");

namespace brigade::cli {
namespace {

using ::testing::HasSubstr;

constexpr std::array kKnown = {
    KnownFlag{"out_folder", "flag_table_test_out_folder", "--out-folder=PATH"},
    KnownFlag{"quiet", "flag_table_test_quiet", "--quiet"},
    KnownFlag{"count", "flag_table_test_count", "--count=N"},
};

Result<void> set(const std::vector<std::string>& arguments) {
  return set_flags(kKnown, arguments, "write --out-folder=PATH", "keys are a.b=c");
}

std::string complaint(const std::vector<std::string>& arguments) {
  const Result<void> done = set(arguments);
  EXPECT_FALSE(done);
  return done ? "" : done.error().text;
}

TEST(FlagTable, SetsFlagsInEverySpelling) {
  const gflags::FlagSaver restore;
  ASSERT_TRUE(set({"--out-folder=a", "--quiet", "--count", "3"}));
  EXPECT_EQ(FLAGS_flag_table_test_out_folder, "a");
  EXPECT_TRUE(FLAGS_flag_table_test_quiet);
  EXPECT_EQ(FLAGS_flag_table_test_count, 3);
  ASSERT_TRUE(set({"-out_folder", "b", "--quiet=false"}));
  EXPECT_EQ(FLAGS_flag_table_test_out_folder, "b");
  EXPECT_FALSE(FLAGS_flag_table_test_quiet);
}

TEST(FlagTable, NamesTheNearestOfAnUnknownFlag) {
  EXPECT_EQ(complaint({"--out-foldr=a"}),
            "unknown flag --out-foldr=a; the nearest is --out-folder; keys are a.b=c");
  EXPECT_EQ(complaint({"--xyz"}),
            "unknown flag --xyz; flags are --out-folder, --quiet, --count; keys are a.b=c");
}

TEST(FlagTable, RefusesWhatIsNoFlagOrNoValue) {
  const gflags::FlagSaver restore;
  EXPECT_EQ(complaint({"there"}), "unexpected argument `there`; write --out-folder=PATH");
  EXPECT_EQ(complaint({"--count"}), "--count needs a value: --count=N");
  EXPECT_EQ(complaint({"--count=many"}), "not a value of --count=many");
}

TEST(FlagTable, ShowsEveryFlagWithItsDescription) {
  EXPECT_THAT(flags_help(kKnown), HasSubstr("  --out-folder=PATH     where it goes\n"));
}

}  // namespace
}  // namespace brigade::cli
