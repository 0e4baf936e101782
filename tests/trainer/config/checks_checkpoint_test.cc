// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trainer/config/load.h"

namespace brigade::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using Overrides = std::vector<std::string>;

Result<RunConfig> load_with(Overrides overrides) {
  overrides.insert(overrides.begin(), "training.dataset=synthetic");
  return load_text("", "r.toml", overrides);
}

Checkpoint accepted(const Overrides& overrides) {
  const Result<RunConfig> config = load_with(overrides);
  EXPECT_TRUE(config) << (config ? "" : config.error().text);
  return config.value_or(RunConfig()).checkpoint;
}

std::string refused(Overrides overrides) {
  overrides.insert(overrides.begin(), "checkpoint.enable=true");
  const Result<RunConfig> config = load_with(overrides);
  EXPECT_FALSE(config);
  return config ? "" : config.error().text;
}

TEST(CheckpointKeys, AreTorchtitansWithItsDefaults) {
  const Checkpoint none = accepted({});
  EXPECT_FALSE(none.enable);
  EXPECT_EQ(none.folder, "checkpoint");
  EXPECT_EQ(none.interval, 500);
  EXPECT_EQ(none.load_step, -1);
  EXPECT_FALSE(none.initial_load_path);
  EXPECT_TRUE(none.initial_load_model_only);
  EXPECT_EQ(none.export_dtype, "float32");
  EXPECT_EQ(none.async_mode, "disabled");
  EXPECT_EQ(none.keep_latest_k, 10);
  EXPECT_FALSE(none.last_save_model_only);  // ours: a finished run can be continued
  EXPECT_TRUE(none.exclude_from_loading.empty());
}

TEST(CheckpointKeys, AreReadFromARecipe) {
  const Checkpoint read = accepted({"checkpoint.enable=true",
                                    "checkpoint.interval=5",
                                    "checkpoint.keep_latest_k=1",
                                    "checkpoint.async_mode=async",
                                    "checkpoint.async_second_save=refuse",
                                    "checkpoint.save_timeout_seconds=3",
                                    "checkpoint.exclude_from_loading=optimizer,dataloader",
                                    "checkpoint.allow_changes=[\"data\", \"global_batch\"]",
                                    "checkpoint.load_step=0",
                                    "checkpoint.folder=deep/er"});
  EXPECT_EQ(read.interval, 5);
  EXPECT_EQ(read.keep_latest_k, 1);
  EXPECT_EQ(read.async_mode, "async");
  EXPECT_EQ(read.async_second_save, "refuse");
  EXPECT_EQ(read.save_timeout_seconds, 3);
  EXPECT_EQ(read.load_step, 0);
  EXPECT_EQ(read.folder, "deep/er");
  EXPECT_THAT(read.exclude_from_loading, ElementsAre("optimizer", "dataloader"));
  EXPECT_THAT(read.allow_changes, ElementsAre("data", "global_batch"));
}

TEST(CheckpointKeys, HaveRanges) {
  EXPECT_THAT(refused({"checkpoint.interval=0"}),
              HasSubstr("checkpoint.interval must be at least 1, found 0"));
  EXPECT_THAT(refused({"checkpoint.load_step=-2"}),
              HasSubstr("checkpoint.load_step must be at least -1, found -2"));
  EXPECT_THAT(refused({"checkpoint.keep_latest_k=-1"}),
              HasSubstr("keep_latest_k must be at least"));
  EXPECT_THAT(refused({"checkpoint.save_timeout_seconds=0"}), HasSubstr("must be at least 1"));
  EXPECT_THAT(refused({"checkpoint.export_dtype=bf16"}),
              HasSubstr("checkpoint.export_dtype must be one of \"float32\", \"bfloat16\", "
                        "\"float16\", found \"bf16\""));
}

TEST(CheckpointKeys, NameTheEntryOfAListThatIsNone) {
  EXPECT_THAT(refused({"checkpoint.exclude_from_loading=optimizer,dataloder"}),
              HasSubstr("entries of checkpoint.exclude_from_loading must be one of \"optimizer\", "
                        "\"dataloader\", found \"dataloder\"; the nearest is "
                        "\"dataloader\""));
  EXPECT_THAT(refused({"checkpoint.exclude_from_loading=model"}),
              HasSubstr("without step or weights there is nothing to go on from; to go on, set "
                        "checkpoint.exclude_from_loading=[]"));
  EXPECT_THAT(refused({"checkpoint.allow_changes=model"}),
              HasSubstr("entries of checkpoint.allow_changes must be one of \"data\", \"seed\""));
}

TEST(CheckpointKeys, AskForNoDeviceMemory) {
  EXPECT_THAT(refused({"checkpoint.async_mode=async_with_pinned_mem"}),
              HasSubstr("async stages in host memory; to go on, set "
                        "checkpoint.async_mode=disabled"));
  EXPECT_EQ(accepted({"checkpoint.async_mode=async_with_pinned_mem"}).enable, false);
}

TEST(CheckpointKeys, RefuseAFolderOutsideOfTheRuns) {
  for (const std::string folder : {"\"\"", "/etc", "..", "a/../../b"}) {
    EXPECT_THAT(refused({"checkpoint.folder=" + folder}),
                HasSubstr("checkpoint.folder must name a folder below job.dump_folder"))
        << folder;
  }
  EXPECT_EQ(accepted({"checkpoint.enable=true", "checkpoint.folder=..a"}).folder, "..a");
}

TEST(CheckpointKeys, RefuseWhatExcludesOneAnother) {
  const auto refused_for =
      [](const Overrides& overrides, const std::string& one, const std::string& other) {
        const std::string text = refused(overrides);
        EXPECT_THAT(text, HasSubstr("1 problem in the configuration:\n  command line: "));
        EXPECT_THAT(text, HasSubstr("checkpoint." + one));
        EXPECT_THAT(text, HasSubstr("checkpoint." + other));
      };
  refused_for({"checkpoint.initial_load_in_hf=true"}, "initial_load_in_hf", "initial_load_path");
  refused_for({"checkpoint.initial_load_in_hf=true",
               "checkpoint.initial_load_path=hf",
               "checkpoint.initial_load_model_only=false"},
              "initial_load_in_hf",
              "initial_load_model_only");
  refused_for({"checkpoint.load_only=true", "checkpoint.create_seed_checkpoint=true"},
              "load_only",
              "create_seed_checkpoint");
  refused_for({"checkpoint.load_step=3", "checkpoint.create_seed_checkpoint=true"},
              "load_step",
              "create_seed_checkpoint");
  refused_for({"checkpoint.last_save_in_hf=true"}, "last_save_in_hf", "last_save_model_only");
  refused_for({"checkpoint.export_dtype=bfloat16"}, "export_dtype", "last_save_model_only");
}

TEST(CheckpointKeys, AreNoContradictionWhereCheckpointsAreSwitchedOff) {
  EXPECT_FALSE(accepted({"checkpoint.enable=false",
                         "checkpoint.initial_load_in_hf=true",
                         "checkpoint.load_step=3",
                         "checkpoint.initial_load_path=x",
                         "checkpoint.export_dtype=bfloat16"})
                   .enable);
}

TEST(CheckpointKeys, SayWhenTheSwitchWasForgotten) {
  for (const std::string setting :
       {"initial_load_path=x", "load_step=3", "create_seed_checkpoint=true", "load_only=true"}) {
    const Result<RunConfig> config = load_with({"checkpoint." + setting});
    ASSERT_FALSE(config) << setting;
    EXPECT_THAT(
        config.error().text,
        HasSubstr("with checkpoint.enable = false, its default, nothing is saved or loaded: "
                  "set checkpoint.enable = true"));
    EXPECT_THAT(config.error().text, Not(HasSubstr("2 problems")));
  }
}

}  // namespace
}  // namespace brigade::config
