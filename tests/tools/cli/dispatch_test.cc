// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/dispatch.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade::cli {
namespace {

using ::testing::HasSubstr;

class DispatchTest : public ::testing::Test {
 protected:
  int run(const Arguments& arguments) {
    const std::vector<Subcommand> subcommands = {
        {"train",
         "train a model",
         [](const Arguments& all) { return static_cast<int>(all.size()); }},
        {"bench", "measure steps", [](const Arguments&) { return 40; }},
    };
    return dispatch(subcommands, arguments, out_, err_);
  }

  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(DispatchTest, RunsTheSubcommandWithTheWholeCommandLine) {
  EXPECT_EQ(run({"brigade", "train", "--config=x"}), 3);
  EXPECT_EQ(run({"brigade", "bench"}), 40);
}

TEST_F(DispatchTest, HelpAndVersionExitWithZero) {
  EXPECT_EQ(run({"brigade", "--help"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("train     train a model"));
  EXPECT_EQ(run({"brigade", "--version"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("brigade 0."));
  EXPECT_EQ(err_.str(), "");
}

TEST_F(DispatchTest, NamesTheNearestSubcommand) {
  EXPECT_EQ(run({"brigade", "trian"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("unknown subcommand `trian`; the nearest is `train`"));
  EXPECT_EQ(run({"brigade", "cook"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("there are train, bench"));
}

TEST_F(DispatchTest, WithoutASubcommandPrintsTheUsageAsAnError) {
  EXPECT_EQ(run({"brigade"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("usage: brigade SUBCOMMAND"));
}

}  // namespace
}  // namespace brigade::cli
