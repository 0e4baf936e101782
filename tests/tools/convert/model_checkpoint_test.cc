// SPDX-License-Identifier: Apache-2.0
#include "tools/convert/model_checkpoint.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/checkpoint/temporary_folder.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/hugging_face_folder.h"
#include "trainer/checkpoint/safetensors_writer.h"

namespace brigade::convert {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ModelCheckpoint : public ::testing::Test {
 protected:
  Result<CheckpointWritten> write(const CheckpointOptions& options = {}) {
    return write_model_checkpoint(target_, *source_, source_->config(), options);
  }

  TemporaryFolder folder_;
  std::string target_ = folder_ / "step-0";
  std::unique_ptr<checkpoint::HuggingFaceFolder> source_ =
      value_or_throw(checkpoint::HuggingFaceFolder::open(BRIGADE_TEST_DATA "/llama_tiny"));
};

TEST_F(ModelCheckpoint, HoldsOnlySoMuchInMemoryAndWritesAFileOfIt) {
  const CheckpointWritten written = value_or_throw(write({.file_limit = 20'000}));
  EXPECT_GT(written.files, 5U);
  EXPECT_EQ(written.tensors, source_->tensors().size());
  const auto saved = value_or_throw(checkpoint::Checkpoint::open(target_));
  EXPECT_THAT(saved->verify(), IsEmpty());
  EXPECT_EQ(saved->tensors(), source_->tensors());
  for (const checkpoint::ManifestFile& file : saved->manifest().files) {
    EXPECT_LE(file.bytes - file.header_bytes, 20'000U) << file.name;
  }
}

TEST_F(ModelCheckpoint, RefusesATypeThatWeightsDoNotHave) {
  const std::vector<double> values = {1.0, 2.0};
  const std::string hf = folder_ / "hf";
  fs::create_directories(hf);
  write_file(folder_ / "hf/config.json", contents(BRIGADE_TEST_DATA "/llama_tiny/config.json"));
  const std::vector<checkpoint::TensorToWrite> tensors = {
      {"w", checkpoint::ElementType::kF64, {2}, std::as_bytes(std::span(values))}};
  value_or_throw(checkpoint::write_safetensors(folder_ / "hf/model.safetensors", tensors));
  source_ = value_or_throw(checkpoint::HuggingFaceFolder::open(hf));
  EXPECT_THAT(write().error().text, HasSubstr("tensor w: weights are kept as F32, BF16 or F16"));
  EXPECT_FALSE(fs::exists(target_));
  EXPECT_TRUE(write({.type = checkpoint::ElementType::kF32}));
}

TEST_F(ModelCheckpoint, LeavesATargetThatIsNoFolder) {
  write_file(target_, "mine");
  EXPECT_EQ(write({.overwrite = true}).error().code, ErrorCode::kUsage);
  EXPECT_EQ(contents(target_), "mine");
}

TEST_F(ModelCheckpoint, DrawsANewRunEachTime) {
  value_or_throw(write());
  const std::string first = value_or_throw(checkpoint::Checkpoint::open(target_))->manifest().run;
  value_or_throw(write({.overwrite = true}));
  EXPECT_NE(value_or_throw(checkpoint::Checkpoint::open(target_))->manifest().run, first);
}

}  // namespace
}  // namespace brigade::convert
