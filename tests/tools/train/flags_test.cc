// SPDX-License-Identifier: Apache-2.0
#include "tools/train/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Flags parsed(const std::vector<std::string>& arguments) {
  const Result<Flags> flags = parse_flags(arguments);
  EXPECT_TRUE(flags) << (flags ? "" : flags.error().text);
  return flags.value_or(Flags());
}

std::string complaint(const std::vector<std::string>& arguments) {
  const Result<Flags> flags = parse_flags(arguments);
  EXPECT_FALSE(flags);
  return flags ? "" : flags.error().text;
}

TEST(Flags, AreSplitFromOverridesInAnyOrder) {
  const Flags flags = parsed({"training.steps=5",
                              "--config=a.toml",
                              "--optimizer.lr",
                              "1e-3",
                              "--print-config",
                              "--debug.deterministic"});
  EXPECT_EQ(flags.config, "a.toml");
  EXPECT_TRUE(flags.print_config);
  EXPECT_THAT(flags.overrides,
              ElementsAre("training.steps=5", "optimizer.lr=1e-3", "debug.deterministic=true"));
}

TEST(Flags, TakeEverySpelling) {
  EXPECT_EQ(parsed({"--config", "a.toml"}).config, "a.toml");
  EXPECT_EQ(parsed({"-config=a.toml"}).config, "a.toml");
  EXPECT_EQ(parsed({"--job.config_file=a.toml"}).config, "a.toml");
  EXPECT_EQ(parsed({"--job.config_file", "a.toml"}).config, "a.toml");
  EXPECT_TRUE(parsed({"--print_config=true"}).print_config);
  EXPECT_FALSE(parsed({"--print_config=false"}).print_config);
  EXPECT_TRUE(parsed({"-h"}).help);
  EXPECT_EQ(parsed({"--world-size=4"}).world_size, "4");
}

TEST(Flags, BeginAfreshAtEveryParse) {
  EXPECT_TRUE(parsed({"--help", "--config=a"}).help);
  EXPECT_FALSE(parsed({}).help);
  EXPECT_EQ(parsed({}).config, "");
}

TEST(Flags, NameTheNearestOfAnUnknownOne) {
  EXPECT_THAT(complaint({"--confg=a"}),
              HasSubstr("unknown flag --confg=a; the nearest is --config"));
  EXPECT_THAT(complaint({"--flagfile=a"}),
              HasSubstr("unknown flag --flagfile=a; flags are --config"));
  EXPECT_THAT(complaint({"recipe.toml"}), HasSubstr("unexpected argument `recipe.toml`"));
  EXPECT_THAT(complaint({"--config"}), HasSubstr("--config needs a value: --config=FILE"));
  EXPECT_THAT(complaint({"--print-config=maybe"}),
              HasSubstr("not a value of --print-config=maybe"));
}

TEST(Flags, AreTheseAndNoOthers) {
  EXPECT_EQ(
      flags_help(),
      "  --config=FILE         the recipe, a TOML file\n"
      "  --print-config        print the recipe with all overrides and defaults, train nothing\n"
      "  --rank=N              be this rank of a world that was started by hand\n"
      "  --world-size=N        how many ranks that world has\n"
      "  --master-addr=HOST    where its rank 0 listens\n"
      "  --master-port=N       on which port\n"
      "  --help                this text\n");
}

}  // namespace
}  // namespace brigade::train
