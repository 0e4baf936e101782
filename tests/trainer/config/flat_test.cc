// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/flat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trainer/config/keys.h"
#include "trainer/config/load.h"

namespace brigade::config {
namespace {

RunConfig loaded(const std::vector<std::string>& overrides) {
  const Result<RunConfig> config =
      load_text("[training]\ndataset = \"synthetic\"\n", "r.toml", overrides);
  EXPECT_TRUE(config) << (config ? "" : config.error().text);
  return config.value_or(RunConfig());
}

void expect_round_trip(const std::vector<std::string>& overrides) {
  const RunConfig config = loaded(overrides);
  std::vector<std::string> again;
  for (const auto& [name, value] : flat(config)) {
    again.push_back(name + '=' + value);
  }
  const Result<RunConfig> back = load_text("", "", again);
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(*back, config);
  EXPECT_EQ(flat(*back), flat(config));
}

TEST(Flat, LoadsBackEqualAsOverrides) {
  expect_round_trip({});
  expect_round_trip({"optimizer.name=SGD",
                     "optimizer.lr=0.1",
                     "model.norm_eps=1e-6",
                     "lr_scheduler.decay_ratio=0.3333333333333333",
                     "parallelism.zero_stage=0",
                     "training.microbatch_size=2",
                     "job.description=\"a \\\"quoted\\\" \\\\ line\\n\\u0001 end\"",
                     "job.save_config_file=x.toml"});
  expect_round_trip({"model.name=gpt2", "training.seq_len=64", "model.dropout=0.1"});
  expect_round_trip({"training.dataset=kjv",
                     "training.dataset_path=a.txt",
                     "validation.enable=true",
                     "validation.dataset_path=b.txt",
                     "optimizer.lr=1e300"});
  expect_round_trip({"checkpoint.enable=true",
                     "checkpoint.exclude_from_loading=optimizer,dataloader",
                     "checkpoint.allow_changes=[\"seed\"]",
                     "checkpoint.initial_load_path=a/b=c"});
}

TEST(Flat, KeepsEveryTextThatAKeyCanHold) {
  for (const std::string text :
       {"8",          "true", "1e3", "{}",       "{a = 1}", "[1, 2]", "[",
        "two words",  " a",   "#",   "a#b",      "a=b",     "'",      "\"\"",
        "1979-05-27", "inf",  "\t",  "\xC3\xA4", "\\n",     "--x",    ""}) {
    RunConfig config = loaded({});
    config.job.description = text;
    const std::string written = flat(config).at("job.description");
    EXPECT_EQ(loaded({"job.description=" + written}).job.description, text) << written;
  }
}

TEST(Flat, WritesValuesAsOnACommandLine) {
  const std::map<std::string, std::string> pairs =
      flat(loaded({"checkpoint.exclude_from_loading=[\"optimizer\", \"dataloader\"]"}));
  EXPECT_EQ(pairs.at("training.steps"), "10000");
  EXPECT_EQ(pairs.at("optimizer.lr"), "8e-04");
  EXPECT_EQ(pairs.at("optimizer.name"), "AdamW");
  EXPECT_EQ(pairs.at("checkpoint.exclude_from_loading"), "optimizer,dataloader");
  EXPECT_EQ(pairs.at("checkpoint.allow_changes"), "[]");
  EXPECT_EQ(pairs.at("job.description"), "\"default job\"");
}

TEST(Flat, HasEveryWorkingKeyThatHasAValueAndAPlace) {
  const RunConfig config = loaded({});
  const std::map<std::string, std::string> pairs = flat(config);
  size_t expected = 0;
  for (const Key& key : keys()) {
    if (key.works && key.owner_key.empty() && key.get(config)) {
      EXPECT_EQ(pairs.count(key.full_name()), 1U) << key.full_name();
    }
    expected += pairs.count(key.full_name());
  }
  EXPECT_EQ(pairs.size(), expected);
  EXPECT_EQ(pairs.count("optimizer.beta1"), 1U);
  EXPECT_EQ(pairs.count("lr_scheduler.total_steps"), 0U);  // unset
  EXPECT_EQ(pairs.count("model.n_positions"), 0U);         // of another family
  EXPECT_EQ(pairs.count("compile.enable"), 0U);            // does not work
}

TEST(RecipeHash, IsOfWhatIsTrainedAndNotOfWhereItGoes) {
  const std::string hash = recipe_hash(loaded({}));
  EXPECT_THAT(hash, ::testing::MatchesRegex("[0-9a-f]{16}"));
  EXPECT_EQ(recipe_hash(loaded({"job.dump_folder=elsewhere", "job.description=x"})), hash);
  EXPECT_NE(recipe_hash(loaded({"optimizer.lr=1e-3"})), hash);
  EXPECT_NE(recipe_hash(loaded({"checkpoint.interval=7"})), hash);
}

}  // namespace
}  // namespace brigade::config
