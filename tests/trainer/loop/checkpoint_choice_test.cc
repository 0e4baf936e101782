// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/checkpoint_choice.h"

#include <filesystem>
#include <span>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/checkpoint/temporary_folder.h"
#include "tests/trainer/loop/recipe.h"
#include "trainer/checkpoint/commit.h"
#include "trainer/checkpoint/folder.h"
#include "trainer/checkpoint/folder_lock.h"
#include "trainer/checkpoint/shard_writer.h"

namespace brigade::loop {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kOwn = "00000000000000aa";
constexpr const char* kOther = "00000000000000bb";

class CheckpointChoice : public ::testing::Test {
 protected:
  config::RunConfig config(std::vector<std::string> settings = {}) const {
    settings.push_back("checkpoint.enable=true");
    settings.push_back(concat("job.dump_folder=\"", folder_.path().string(), '"'));
    return recipe(settings);
  }

  /// A complete checkpoint of one number.
  void save(int64_t step, const std::string& run) const {
    value_or_throw(checkpoint::make_folder(checkpoints_));
    value_or_throw(checkpoint::make_staging(checkpoints_, step));
    const std::vector<float> values = {1.0F};
    const std::vector<checkpoint::StateBox> boxes = {
        {"w", checkpoint::ElementType::kF32, {1}, {{{0, 1}}}, std::as_bytes(std::span(values))}};
    const auto record = value_or_throw(checkpoint::write_shard(
        checkpoint::staging_path(checkpoints_, step), checkpoint::shard_name(0), 0, boxes));
    checkpoint::Manifest head;
    head.run = run;
    head.counters.step = step;
    const std::vector<std::string> records = {checkpoint::to_json(record)};
    value_or_throw(checkpoint::commit(checkpoints_, head, records, 0));
  }

  void own(const std::string& run) const {
    value_or_throw(value_or_throw(checkpoint::FolderLock::take(checkpoints_))->set_run(run));
  }

  Candidate at(int64_t step) const { return {step, checkpoint::step_path(checkpoints_, step)}; }

  const TemporaryFolder folder_;
  const std::string checkpoints_ = folder_ / "checkpoint";
};

TEST_F(CheckpointChoice, IsNothingInAnEmptyFolderOrWhenTurnedOff) {
  const Choice choice = value_or_throw(look_for_checkpoints(config()));
  EXPECT_THAT(choice.candidates, IsEmpty());
  EXPECT_EQ(choice.run.size(), 16U);
  save(5, kOwn);
  EXPECT_THAT(value_or_throw(look_for_checkpoints(recipe())).candidates, IsEmpty());
}

TEST_F(CheckpointChoice, TakesTheNewestCompleteAndSaysWhatItSkipped) {
  for (const int64_t step : {5, 10, 15}) {
    save(step, kOwn);
  }
  std::filesystem::remove(checkpoint::step_path(checkpoints_, 15) + "/manifest.json");
  const Choice choice = value_or_throw(look_for_checkpoints(config()));
  EXPECT_THAT(choice.candidates, ElementsAre(at(10), at(5)));
  EXPECT_EQ(choice.run, kOwn);
  EXPECT_FALSE(choice.asked_for);
  EXPECT_THAT(choice.remarks,
              ElementsAre(AllOf(HasSubstr("skipped step-15"), HasSubstr("manifest.json"))));
}

// R043: an old step-1000 of another run does not outrank this run's step-10.
TEST_F(CheckpointChoice, R043PrefersTheRunThatWroteThereLast) {
  save(1000, kOther);
  save(10, kOwn);
  own(kOwn);
  const Choice choice = value_or_throw(look_for_checkpoints(config()));
  EXPECT_THAT(choice.candidates, ElementsAre(at(10)));
  EXPECT_THAT(choice.remarks, ElementsAre(AllOf(HasSubstr("other runs"), HasSubstr("step-1000"))));
  own("00000000000000cc");  // which has none: better another's than none
  EXPECT_THAT(value_or_throw(look_for_checkpoints(config())).candidates, ElementsAre(at(1000)));
}

TEST_F(CheckpointChoice, NothingWholeIsAnErrorAndNoFreshStart) {
  save(5, kOwn);
  std::filesystem::resize_file(checkpoint::step_path(checkpoints_, 5) + "/rank-00000.safetensors",
                               8);
  const auto choice = look_for_checkpoints(config());
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().code, ErrorCode::kData);
  EXPECT_THAT(choice.error().text,
              AllOf(HasSubstr("step-5"), HasSubstr("rank-00000"), HasSubstr("begin anew")));
}

TEST_F(CheckpointChoice, LoadsAStepByNumberAndThenBeginsAnotherRun) {
  save(5, kOwn);
  save(10, kOwn);
  const Choice back = value_or_throw(look_for_checkpoints(config({"checkpoint.load_step=5"})));
  EXPECT_THAT(back.candidates, ElementsAre(at(5)));
  EXPECT_TRUE(back.asked_for);
  EXPECT_NE(back.run, kOwn);
  const Choice last = value_or_throw(look_for_checkpoints(config({"checkpoint.load_step=10"})));
  EXPECT_EQ(last.run, kOwn);
  const auto none = look_for_checkpoints(config({"checkpoint.load_step=7"}));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kUsage);
  EXPECT_THAT(none.error().text, HasSubstr("step-10, step-5"));
}

TEST_F(CheckpointChoice, TakesWeightsFromElsewhereOnlyIfItHasNothingOfItsOwn) {
  const std::vector<std::string> initial = {"checkpoint.initial_load_path=\"/some/where\""};
  const Choice first = value_or_throw(look_for_checkpoints(config(initial)));
  EXPECT_THAT(first.candidates, ElementsAre(Candidate{0, "/some/where"}));
  EXPECT_TRUE(first.weights_alone);
  EXPECT_TRUE(first.asked_for);
  save(5, kOwn);
  const Choice own = value_or_throw(look_for_checkpoints(config(initial)));
  EXPECT_THAT(own.candidates, ElementsAre(at(5)));
  EXPECT_FALSE(own.weights_alone);
}

TEST_F(CheckpointChoice, MakesNoSeedWhereARunHasBeen) {
  const std::vector<std::string> seed = {"checkpoint.create_seed_checkpoint=true"};
  EXPECT_THAT(value_or_throw(look_for_checkpoints(config(seed))).candidates, IsEmpty());
  save(5, kOwn);
  const auto choice = look_for_checkpoints(config(seed));
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().code, ErrorCode::kUsage);
  EXPECT_THAT(choice.error().text, HasSubstr("step-5"));
}

TEST_F(CheckpointChoice, ArrivesAtOtherRanksAsItIs) {
  const Choice choice = {.candidates = {{5, "a \"path\""}, {3, "b"}},
                         .asked_for = true,
                         .weights_alone = true,
                         .in_hf = true,
                         .run = kOwn,
                         .remarks = {"one\ntwo", ""}};
  EXPECT_EQ(choice_of(to_text(choice)), choice);
  EXPECT_EQ(choice_of(to_text({})), Choice());
}

}  // namespace
}  // namespace brigade::loop
