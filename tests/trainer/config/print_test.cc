// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/print.h"

#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trainer/config/keys.h"
#include "trainer/config/load.h"

namespace brigade::config {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

void expect_round_trip(const std::vector<std::string>& overrides) {
  const Result<RunConfig> config = load_text("", "", overrides);
  ASSERT_TRUE(config) << config.error().text;
  const std::string text = to_toml(*config);
  const Result<RunConfig> again = load_text(text, "printed.toml", {});
  ASSERT_TRUE(again) << again.error().text << '\n' << text;
  EXPECT_EQ(*again, *config) << text;
  EXPECT_EQ(to_toml(*again), text);
}

TEST(Print, PrintsAConfigThatLoadsBackEqual) {
  expect_round_trip({"training.dataset=synthetic"});
  expect_round_trip({"training.dataset=synthetic",
                     "optimizer.name=SGD",
                     "optimizer.lr=0.1",
                     "optimizer.decay=all",
                     "model.flavor=small",
                     "model.n_kv_heads=2",
                     "model.norm_eps=1e-6",
                     "model.tie_embeddings=true",
                     "lr_scheduler.decay_ratio=0.3333333333333333",
                     "lr_scheduler.total_steps=77",
                     "parallelism.zero_stage=0",
                     "training.microbatch_size=2",
                     "training.max_norm=0",
                     "job.description=\"a \\\"quoted\\\" \\\\ line\\n\\u0001 end\"",
                     "job.save_config_file=x.toml"});
  expect_round_trip({"training.dataset=synthetic",
                     "training.seq_len=64",
                     "model.name=gpt2",
                     "model.dropout=0.1",
                     "parallelism.sequence_parallel=true"});
  expect_round_trip({"training.dataset_path=a.txt",
                     "validation.enable=true",
                     "validation.dataset_path=b.txt",
                     "optimizer.lr=1e300",
                     "optimizer.eps=5e-324"});
}

TEST(Print, ShowsWhatIsUnsetAndLeavesOutTheKeysOfAnotherOptimizerOrFamily) {
  const Result<RunConfig> config =
      load_text("", "", {"training.dataset=synthetic", "optimizer.name=SGD"});
  ASSERT_TRUE(config);
  const std::string text = to_toml(*config);
  EXPECT_THAT(text, HasSubstr("# total_steps is unset"));
  EXPECT_THAT(text, HasSubstr("[parallelism]\ndata_parallel_replicate_degree = 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("beta1")));
  EXPECT_THAT(text, HasSubstr("rope_theta"));
  EXPECT_THAT(text, Not(HasSubstr("n_positions")));
}

TEST(Print, HelpNamesEveryKeyOnce) {
  const std::string all = keys_help();
  const std::string page = keys_page();
  for (const Key& key : keys()) {
    EXPECT_FALSE(key.help.empty()) << key.full_name();
    EXPECT_EQ(find_key(key.table, key.name), &key) << key.full_name() << " is declared twice";
    EXPECT_THAT(all, HasSubstr("  " + key.name + " ("));
    EXPECT_THAT(page, HasSubstr("| `" + key.name + "` |"));
    EXPECT_TRUE(key.works || !key.reason.empty()) << key.full_name();
  }
  EXPECT_THAT(keys_help("training"), HasSubstr("seq_len (integer, 2048): tokens of one sequence"));
  EXPECT_THAT(keys_help("training"), Not(HasSubstr("[optimizer]")));
}

TEST(Print, GivesTheTablesOfTheConfigPage) {
  std::ifstream file(BRIGADE_TEST_DATA "/../../docs/CONFIG.md");
  std::stringstream text;
  text << file.rdbuf();
  const std::string page = text.str();
  const size_t tables = page.find("## [");
  ASSERT_NE(tables, std::string::npos) << "docs/CONFIG.md was not read";
  if (page.substr(tables) != keys_page()) {
    const std::string renewed = ::testing::TempDir() + "CONFIG.md";
    std::ofstream(renewed) << page.substr(0, tables) << keys_page();
    FAIL() << "docs/CONFIG.md is out of date; cp " << renewed << " docs/CONFIG.md";
  }
}

TEST(Print, KnowsEveryTableOfTheVocabulary) {
  EXPECT_EQ(tables(),
            (std::vector<std::string>{"job",
                                      "metrics",
                                      "debug",
                                      "model",
                                      "optimizer",
                                      "lr_scheduler",
                                      "training",
                                      "training.dataloader",
                                      "validation",
                                      "validation.dataloader",
                                      "parallelism",
                                      "comm",
                                      "launch",
                                      "activation_checkpoint",
                                      "checkpoint",
                                      "profiling",
                                      "compile",
                                      "quantize.linear.float8",
                                      "quantize.linear.mx",
                                      "quantize.grouped_mm.float8",
                                      "quantize.grouped_mm.mx",
                                      "memory_estimation",
                                      "fault_tolerance",
                                      "experimental"}));
}

}  // namespace
}  // namespace brigade::config
