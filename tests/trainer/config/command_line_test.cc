// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trainer/config/recipe.h"

namespace brigade::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(CommandLine, SplitsOverridesFromFlags) {
  const SplitArguments split = split_arguments({"--config",
                                                "a.b/r.toml",
                                                "training.steps=5",
                                                "--optimizer.lr",
                                                "-1",
                                                "--debug.no-deterministic",
                                                "--debug.deterministic",
                                                "training.seq_len=8",
                                                "--help"});
  EXPECT_THAT(split.overrides,
              ElementsAre("training.steps=5",
                          "optimizer.lr=-1",
                          "debug.deterministic=false",
                          "debug.deterministic=true",
                          "training.seq_len=8"));
  EXPECT_THAT(split.rest, ElementsAre("--config", "a.b/r.toml", "--help"));
}

TEST(CommandLine, SaysWhatAnArgumentShouldHaveBeen) {
  Settings settings;
  Problems problems;
  read_overrides(
      {"steps", "--training.steps", "training.dataloader.num_worker=1"}, settings, problems);
  const std::string text = problems.error().text;
  EXPECT_THAT(text, HasSubstr("command line: steps: expected section.key=value"));
  EXPECT_THAT(text, HasSubstr("a value is missing; write training.steps=VALUE"));
  EXPECT_THAT(text,
              HasSubstr("unknown key `num_worker` in [training.dataloader]; the nearest is "
                        "`num_workers`"));
}

}  // namespace
}  // namespace brigade::config
