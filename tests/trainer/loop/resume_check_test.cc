// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/resume_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/loop/recipe.h"
#include "trainer/config/flat.h"

namespace brigade::loop {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using Settings = std::vector<std::string>;

std::map<std::string, std::string> facts_with(const config::RunConfig& config,
                                              int64_t samples = 50) {
  return value_or_throw(resume_facts(facts_of(config), *counting_tokens(96, samples)));
}

checkpoint::Manifest manifest_of(const config::RunConfig& config, int64_t step = 6) {
  checkpoint::Manifest manifest;
  manifest.counters.step = step;
  manifest.recipe = config::flat(config);
  manifest.facts = facts_with(config);
  return manifest;
}

Result<void> check(const Settings& before, const Settings& now, int64_t samples = 50) {
  const config::RunConfig config = recipe(now);
  return check_resumable(manifest_of(recipe(before)), config, facts_with(config, samples));
}

TEST(CheckResumable, TakesAnotherMeshStageScheduleAndMicrobatch) {
  EXPECT_TRUE(check({}, {}));
  EXPECT_TRUE(check({},
                    {"parallelism.data_parallel_shard_degree=2",
                     "parallelism.tensor_parallel_degree=2",
                     "parallelism.pipeline_parallel_degree=2",
                     "parallelism.zero_stage=3",
                     "parallelism.pipeline_parallel_schedule=GPipe",
                     "training.microbatch_size=1",
                     "training.mixed_precision_param=bfloat16",
                     "training.steps=20",
                     "optimizer.lr=1e-4",
                     "job.dump_folder=elsewhere",
                     "launch.threads_per_rank=2"}));
}

TEST(CheckResumable, NamesEachThingThatMayNotChangeWithBothValues) {
  const std::vector<std::pair<const char*, const char*>> changes = {
      {"model.n_layers=6", "model.n_layers: 4 in the checkpoint, 6 now"},
      {"model.ffn_dim=70", "model.ffn_dim: 64 in the checkpoint, 70 now"},
      {"model.tie_embeddings=true", "model.tie_embeddings: false in the checkpoint, true now"},
      {"debug.seed=8", "debug.seed: 7 in the checkpoint, 8 now"},
      {"training.global_batch_size=16", "global_batch: 8 in the checkpoint, 16 now"},
      {"optimizer.name=SGD", "optimizer.name: AdamW in the checkpoint, SGD now"}};
  for (const auto& [setting, text] : changes) {
    const Result<void> possible = check({}, {setting});
    ASSERT_FALSE(possible) << setting;
    EXPECT_EQ(possible.error().code, ErrorCode::kUsage);
    EXPECT_THAT(possible.error().text, AllOf(HasSubstr(text), HasSubstr("step 6")));
  }
  const Result<void> two = check({}, {"model.n_layers=6", "debug.seed=8"});
  EXPECT_THAT(two.error().text, AllOf(HasSubstr("n_layers"), HasSubstr("seed")));
}

TEST(CheckResumable, SeesOtherData) {
  const Result<void> possible = check({}, {}, 51);
  ASSERT_FALSE(possible);
  EXPECT_THAT(possible.error().text,
              AllOf(HasSubstr("50 samples"), HasSubstr("51 samples"), HasSubstr("\"data\"")));
}

TEST(CheckResumable, AllowsWhatAKeyAllows) {
  EXPECT_TRUE(check({}, {"debug.seed=8", "checkpoint.allow_changes=seed"}));
  EXPECT_TRUE(check({}, {"checkpoint.allow_changes=data"}, 51));
  EXPECT_TRUE(check({},
                    {"training.global_batch_size=16",
                     "debug.seed=8",
                     "checkpoint.allow_changes=[\"global_batch\", \"seed\"]"}));
  EXPECT_FALSE(check({}, {"model.n_layers=6", "checkpoint.allow_changes=seed"}));
}

TEST(ResumeRemarks, AreNoneWhenNothingThatIsLearnedChanges) {
  const auto manifest = manifest_of(recipe());
  EXPECT_THAT(resume_remarks(manifest, recipe({"job.dump_folder=elsewhere", "metrics.log_freq=3"})),
              IsEmpty());
}

// R026: trained to 6 of 12, gone on with to 24: the rate that changes is said, and the warm-up is
// not begun again.
TEST(ResumeRemarks, R026SayWhatTheLearningRateWasAndIs) {
  const auto lines =
      resume_remarks(manifest_of(recipe({"training.steps=12"})), recipe({"training.steps=24"}));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], "changed since the checkpoint: training.steps 12 -> 24");
  // 1e-3 after 2 warm-up steps, then down to nothing: 1 - 4/10 of it, or 1 - 4/22.
  EXPECT_THAT(lines[1],
              HasSubstr("learning rate of step 7: 0.0006 by the checkpoint's recipe, 0.000818182 "
                        "by this one"));
}

TEST(ResumeRemarks, NameKeysThatCameAndWent) {
  const auto manifest = manifest_of(recipe({"parallelism.zero_stage=1"}));
  EXPECT_THAT(resume_remarks(manifest, recipe()),
              ElementsAre("changed since the checkpoint: parallelism.zero_stage 1 -> unset"));
}

}  // namespace
}  // namespace brigade::loop
