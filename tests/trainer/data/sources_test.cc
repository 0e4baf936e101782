// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/sources.h"

#include <cstdio>
#include <fstream>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade::data {
namespace {

using ::testing::HasSubstr;

class SourcesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = ::testing::TempDir() + "sources_" + std::to_string(getpid());
    std::ofstream(path_) << std::string(1001, 'a');
    config_.training.dataset = "text";
    config_.training.dataset_path = path_;
    config_.training.seq_len = 10;
  }
  void TearDown() override { std::remove(path_.c_str()); }

  void expect_error(ErrorCode code, const std::string& text) const {
    const Result<Sources> sources = open_sources(config_);
    ASSERT_FALSE(sources.has_value());
    EXPECT_EQ(sources.error().code, code);
    EXPECT_THAT(sources.error().text, HasSubstr(text));
  }

  std::string path_;
  config::RunConfig config_;
};

TEST_F(SourcesTest, TrainsOnTheWholeFileWithoutValidation) {
  const Sources sources = value_or_throw(open_sources(config_));
  EXPECT_EQ(sources.training->sample_count(), 100);
  EXPECT_EQ(sources.validation, nullptr);
  EXPECT_EQ(sources.descriptions().size(), 1U);
}

TEST_F(SourcesTest, KeepsTheEndOfTheFileForValidation) {
  config_.validation.enable = true;
  config_.validation.fraction = 0.25;
  const Sources sources = value_or_throw(open_sources(config_));
  EXPECT_EQ(sources.training->sample_count(), 75);
  EXPECT_EQ(sources.validation->sample_count(), 24);
  EXPECT_EQ(sources.descriptions().size(), 2U);
}

TEST_F(SourcesTest, AFileForValidationLeavesTheTrainingFileWhole) {
  config_.validation.enable = true;
  config_.validation.dataset_path = path_;
  const Sources sources = value_or_throw(open_sources(config_));
  EXPECT_EQ(sources.training->sample_count(), 100);
  EXPECT_EQ(sources.validation->sample_count(), 100);
}

TEST_F(SourcesTest, MakesSyntheticDataFromTheSeed) {
  config_.training.dataset = "synthetic";
  config_.training.dataset_path.reset();
  config_.debug.seed = 7;
  const Sources sources = value_or_throw(open_sources(config_));
  EXPECT_THAT(sources.descriptions().front(), HasSubstr("synthetic data of seed 7"));
}

TEST_F(SourcesTest, RefusesADataSetThatIsNoFile) {
  config_.training.dataset_path.reset();
  expect_error(ErrorCode::kUsage, "training.dataset = \"text\" is no file");
}

TEST_F(SourcesTest, RefusesValidationWithoutAText) {
  config_.training.dataset = "synthetic";
  config_.training.dataset_path.reset();
  config_.validation.enable = true;
  expect_error(ErrorCode::kUsage, "validation.enable = true needs a text");
}

TEST_F(SourcesTest, RefusesAFileThatIsNotThere) {
  config_.training.dataset_path = "/no/such/text";
  expect_error(ErrorCode::kIo, "/no/such/text");
}

TEST_F(SourcesTest, RefusesAValidationPartThatFillsNoSample) {
  config_.validation.enable = true;
  config_.validation.fraction = 0.01;
  expect_error(ErrorCode::kData, path_);
}

TEST_F(SourcesTest, RefusesIdsThatTheModelDoesNotHave) {
  config_.model.vocab_size = 97;
  expect_error(ErrorCode::kData, "set model.vocab_size=256");
}

}  // namespace
}  // namespace brigade::data
