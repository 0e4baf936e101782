// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/recipe.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trainer/config/keys.h"
#include "trainer/config/load.h"
#include "trainer/config/resolve.h"

namespace brigade::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Key& key(const std::string& table, const std::string& name) {
  const Key* found = find_key(table, name);
  EXPECT_NE(found, nullptr) << name;
  return *found;
}

TEST(Recipe, ParsesListsInBothSpellings) {
  const Key& list = key("compile", "components");
  EXPECT_EQ(*parse_value(list, "model,loss"), Value(std::vector<std::string>{"model", "loss"}));
  EXPECT_EQ(*parse_value(list, "[\"model\"]"), Value(std::vector<std::string>{"model"}));
  EXPECT_EQ(*parse_value(list, ""), Value(std::vector<std::string>{}));
}

TEST(Recipe, DoesNotLetAValueSmuggleInAnotherKey) {
  EXPECT_FALSE(parse_value(key("training", "steps"), "5\nseq_len = 3"));
}

TEST(Recipe, KeepsTheLinesAfterAMistakeInPlace) {
  Settings settings;
  Problems problems;
  read_recipe("[training]\nsteps = 1\nsteps = 2\n\nseq_lenn = 3\n", "r", settings, problems);
  const std::string text = problems.error().text;
  EXPECT_THAT(text, HasSubstr("r:3:1: duplicate key `steps`; the first is on line 2"));
  EXPECT_THAT(text, HasSubstr("r:5:1: unknown key `seq_lenn`"));
}

TEST(Recipe, RefusesATableWhoseNameIsNoKeyInsteadOfAborting) {
  for (const char* text : {"[!]\n", "[[!]]\n", "[training.!]\n"}) {
    Settings settings;
    Problems problems;
    read_recipe(text, "r", settings, problems);
    EXPECT_THAT(problems.error().text, HasSubstr("r:1:")) << text;
  }
}

/// Every recipe of the tree loads, and fits the ranks that it would start.
TEST(Recipe, EveryOneOfOursLoadsAndResolves) {
  const std::string folder = BRIGADE_TEST_DATA "/../../configs/";
  int recipes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const bool study = entry.path().parent_path().filename() == "studies";
    if (entry.path().extension() == ".toml" && !study) {
      const Result<RunConfig> config = load(entry.path(), {});
      ASSERT_TRUE(config) << config.error().text;
      const Result<RunFacts> facts = resolve(*config, wanted_ranks(*config));
      EXPECT_TRUE(facts) << entry.path() << ": " << (facts ? "" : facts.error().text);
      ++recipes;
    }
  }
  EXPECT_GE(recipes, 6);
  const RunConfig threed = *load(folder + "tiny/3d_2x2x2.toml", {});
  const RunConfig single = *load(folder + "tiny/single.toml", {});
  EXPECT_EQ(wanted_ranks(threed), 8);
  EXPECT_EQ(resolve(threed, 8)->batch_equation,
            "global 16 = microbatch 2 x m 4 x data ranks 2 (dp_replicate 1 x dp_shard 2)");
  EXPECT_EQ(threed.training, single.training);
  EXPECT_EQ(threed.model, single.model);
}

}  // namespace
}  // namespace brigade::config
