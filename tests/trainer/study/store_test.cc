// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/store.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "tests/trainer/checkpoint/temporary_folder.h"

namespace brigade::study {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

class StoreTest : public ::testing::Test {
 protected:
  const TemporaryFolder temporary_;
  const std::string folder_ = concat(temporary_.path().string(), "/study");
  const StudyFacts facts_ = {"two", {{"steps", "10"}, {"ranks", "[1, 2]"}}};
};

TEST_F(StoreTest, FinishedRunsAreThereWhenTheStudyGoesOn) {
  const RunResult result = {.step_ms = {1, 2}};
  {
    const Result<Store> store = Store::open(folder_, facts_);
    ASSERT_TRUE(store) << store.error().text;
    EXPECT_FALSE(store->result("p", 0));
    const Result<std::string> folder = store->begin("p", 0);
    ASSERT_TRUE(folder);
    std::ofstream(concat(*folder, "/console.log")) << "hello";
    ASSERT_TRUE(store->finish("p", 0, result));
    ASSERT_TRUE(store->begin("p", 1));
  }
  const Result<Store> store = Store::open(folder_, facts_);
  ASSERT_TRUE(store) << store.error().text;
  EXPECT_EQ(store->result("p", 0).value(), result);
  EXPECT_FALSE(store->result("p", 1)) << "it had begun alone";
  EXPECT_TRUE(fs::exists(concat(store->run_folder("p", 0), "/console.log")));
}

TEST_F(StoreTest, ARunThatBeginsAgainFindsAnEmptyFolder) {
  const Result<Store> store = Store::open(folder_, facts_);
  const std::string folder = store->begin("p", 0).value();
  std::ofstream(concat(folder, "/metrics.jsonl")) << "old";
  EXPECT_EQ(store->begin("p", 0).value(), folder);
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST_F(StoreTest, ATornResultCountsAsUnfinished) {
  const Result<Store> store = Store::open(folder_, facts_);
  const std::string folder = store->begin("p", 0).value();
  std::ofstream(concat(folder, "/result.json")) << "{\"failure\": \"\", \"step";
  EXPECT_FALSE(store->result("p", 0));
}

TEST_F(StoreTest, AnotherStudysFolderIsRefusedByBothNames) {
  ASSERT_TRUE(Store::open(folder_, facts_));
  const Result<Store> other = Store::open(folder_, {"three", facts_.values});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::kUsage);
  EXPECT_THAT(other.error().text, HasSubstr("holds the study \"two\", not \"three\""));
}

TEST_F(StoreTest, AChangedStudyIsRefusedByWhatChanged) {
  ASSERT_TRUE(Store::open(folder_, facts_));
  StudyFacts changed = {"two", {{"steps", "20"}, {"repeats", "3"}}};
  const Result<Store> store = Store::open(folder_, changed);
  ASSERT_FALSE(store);
  EXPECT_THAT(store.error().text,
              AllOf(HasSubstr("steps was 10 and is 20"),
                    HasSubstr("ranks was [1, 2] and is nothing"),
                    HasSubstr("repeats was nothing and is 3")));
  EXPECT_NE(changed.hash(), facts_.hash());
}

TEST_F(StoreTest, FilesOfSomebodyElseAreLeftAlone) {
  fs::create_directories(folder_);
  std::ofstream(concat(folder_, "/thesis.tex")) << "x";
  const Result<Store> store = Store::open(folder_, facts_);
  ASSERT_FALSE(store);
  EXPECT_THAT(store.error().text, HasSubstr("is not empty and holds no study"));
  EXPECT_THAT(store.error().text, HasSubstr("thesis.tex"));
  EXPECT_THAT(Store::open(concat(folder_, "/thesis.tex"), facts_).error().text,
              HasSubstr("could not be made"));
}

TEST_F(StoreTest, ARecordThatIsNoneIsRefused) {
  fs::create_directories(folder_);
  std::ofstream(concat(folder_, "/study.json")) << "[3]";
  EXPECT_THAT(Store::open(folder_, facts_).error().text, HasSubstr("is not the record of a study"));
}

TEST_F(StoreTest, TwoStudiesDoNotWriteOneFolder) {
  const Result<Store> store = Store::open(folder_, facts_);
  ASSERT_TRUE(store);
  const Result<Store> second = Store::open(folder_, facts_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kIo);
  EXPECT_THAT(second.error().text, HasSubstr("another process runs a study in"));
}

TEST(StudyFactsTest, HoldWhatDecidesTheNumbers) {
  Study study;
  study.name = "s";
  study.grid.meshes[1] = {*mesh_choice("dp", 1)};
  config::RunConfig base;
  const StudyFacts facts = facts_of(study, base);
  EXPECT_EQ(facts.values.at("base training.seq_len"), "2048");
  EXPECT_EQ(facts.values.at("ranks"), "[1]");

  study.timeout_seconds = 7;
  study.output_folder = "elsewhere";
  base.job.dump_folder = "elsewhere";
  EXPECT_EQ(facts_of(study, base).hash(), facts.hash());
  study.peers = {{"p", "c", {}}};
  EXPECT_NE(facts_of(study, base).hash(), facts.hash());
}

}  // namespace
}  // namespace brigade::study
