// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/sources.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/trainer/checkpoint/temporary_folder.h"
#include "tests/trainer/loop/recipe.h"

namespace brigade::loop {
namespace {

using Settings = std::vector<std::string>;

/// Trains on the bytes of a file.
config::RunConfig on_file(const std::string& path, const Settings& settings = {}) {
  Settings all = {"training.dataset=text", "training.dataset_path=" + path, "model.vocab_size=256"};
  all.insert(all.end(), settings.begin(), settings.end());
  return recipe(all);
}

Error refusal(const config::RunConfig& config) {
  const Result<Sources> sources = open_sources(config);
  EXPECT_FALSE(sources);
  return sources ? Error{} : sources.error();
}

/// 1601 bytes: 100 samples of 16 tokens.
std::string text_in(const TemporaryFolder& folder) {
  std::string path = folder / "text";
  write_file(path, std::string(1601, 'a'));
  return path;
}

TEST(Sources, AreSyntheticWithoutAValidationText) {
  const Sources sources = value_or_throw(open_sources(recipe()));
  EXPECT_EQ(sources.training->vocabulary_size(), 256);
  EXPECT_EQ(sources.training->seq_len(), 16);
  EXPECT_EQ(sources.validation, nullptr);
  EXPECT_EQ(sources.descriptions(), (Settings{sources.training->description()}));
}

TEST(Sources, TakeAllOfAFileWhenNothingIsValidated) {
  const TemporaryFolder folder;
  const Sources sources = value_or_throw(open_sources(on_file(text_in(folder))));
  EXPECT_EQ(sources.training->sample_count(), 100);
  EXPECT_EQ(sources.validation, nullptr);
}

TEST(Sources, KeepTheEndOfTheFileForValidation) {
  const TemporaryFolder folder;
  const Sources sources = value_or_throw(open_sources(
      on_file(text_in(folder), {"validation.enable=true", "validation.fraction=0.25"})));
  EXPECT_EQ(sources.training->sample_count(), 75);
  ASSERT_NE(sources.validation, nullptr);
  EXPECT_EQ(sources.validation->sample_count(), 24) << "400 bytes, of which the first is no target";
  EXPECT_EQ(sources.descriptions(),
            (Settings{sources.training->description(), sources.validation->description()}));
}

TEST(Sources, TakeAllOfATextForValidationAndLeaveTheTrainingFileWhole) {
  const TemporaryFolder folder;
  const std::string other = folder / "other";
  write_file(other, std::string(161, 'b'));
  const Sources sources = value_or_throw(open_sources(
      on_file(text_in(folder), {"validation.enable=true", "validation.dataset_path=" + other})));
  EXPECT_EQ(sources.training->sample_count(), 100);
  ASSERT_NE(sources.validation, nullptr);
  EXPECT_EQ(sources.validation->sample_count(), 10);
}

TEST(Sources, RefuseADataSetThatIsNoFileAndSayWhatToSet) {
  config::RunConfig config = recipe();
  config.training.dataset = "c4";
  const Error error = refusal(config);
  EXPECT_EQ(error.code, ErrorCode::kUsage);
  EXPECT_NE(error.text.find("training.dataset = \"c4\" is no file"), std::string::npos);
  EXPECT_NE(error.text.find("training.dataset_path=FILE"), std::string::npos) << error.text;
}

TEST(Sources, NameAFileThatIsNotThere) {
  const TemporaryFolder folder;
  const std::string path = folder / "absent";
  const Error error = refusal(on_file(path));
  EXPECT_EQ(error.code, ErrorCode::kIo);
  EXPECT_NE(error.text.find(path), std::string::npos) << error.text;
}

TEST(Sources, NameAFileThatIsTooSmall) {
  const TemporaryFolder folder;
  const std::string path = folder / "short";
  write_file(path, "sixteen letters.");
  const Error error = refusal(on_file(path));
  EXPECT_EQ(error.code, ErrorCode::kData);
  EXPECT_NE(error.text.find(path), std::string::npos) << error.text;
}

TEST(Sources, RefuseToValidateWithoutAText) {
  config::RunConfig config = recipe();
  config.validation.enable = true;
  const Error error = refusal(config);
  EXPECT_EQ(error.code, ErrorCode::kUsage);
  EXPECT_NE(error.text.find("set validation.dataset_path=FILE"), std::string::npos) << error.text;
}

}  // namespace
}  // namespace brigade::loop
