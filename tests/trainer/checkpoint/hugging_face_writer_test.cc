// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/hugging_face_writer.h"

#include <cstring>
#include <filesystem>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/trainer/checkpoint/temporary_folder.h"
#include "trainer/checkpoint/hugging_face_folder.h"
#include "trainer/checkpoint/hugging_face_index.h"

namespace brigade::checkpoint {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Names = std::set<std::string>;

std::string data(const char* folder) {
  return std::string(BRIGADE_TEST_DATA) + "/" + folder;
}

Names names_in(const std::string& folder) {
  Names names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    names.insert(entry.path().filename());
  }
  return names;
}

/// A source that lies in memory: tensors of fp32 zeros, and what was asked of it.
class Zeros final : public TensorSource {
 public:
  explicit Zeros(SourceTensors tensors) : tensors_(std::move(tensors)) {}

  const std::string& path() const override { return path_; }
  const SourceTensors& tensors() const override { return tensors_; }
  Result<void> read(std::string_view, const sharding::Box&, std::span<std::byte> out) override {
    std::memset(out.data(), 0, out.size());
    bytes_ += out.size();
    largest_ = std::max(largest_, out.size());
    return {};
  }
  uint64_t bytes_read() const override { return bytes_; }
  size_t largest() const { return largest_; }

 private:
  std::string path_ = "zeros";
  SourceTensors tensors_;
  uint64_t bytes_ = 0;
  size_t largest_ = 0;
};

class HuggingFaceWriterTest : public ::testing::Test {
 protected:
  HuggingFaceWritten copy(const char* from, const HuggingFaceOptions& options = {}) {
    const auto source = value_or_throw(HuggingFaceFolder::open(data(from)));
    return value_or_throw(write_hugging_face(target_, *source, source->config(), options));
  }

  std::string complaint(TensorSource& source, const HuggingFaceOptions& options = {}) {
    const auto written = write_hugging_face(target_, source, {}, options);
    EXPECT_FALSE(written);
    return written ? "" : written.error().text;
  }

  TemporaryFolder folder_;
  std::string target_ = folder_ / "model";
};

TEST_F(HuggingFaceWriterTest, WritesTheSameFileThatTransformersWrote) {
  for (const char* name : {"llama_tiny", "llama_tied_uneven", "gpt2_tiny"}) {
    const HuggingFaceWritten written = copy(name, {.overwrite = true});
    EXPECT_THAT(written.files, ElementsAre("model.safetensors"));
    EXPECT_EQ(contents(target_ + "/model.safetensors"),
              contents(data(name) + "/model.safetensors"));
    EXPECT_EQ(names_in(target_), (Names{"config.json", "model.safetensors"}));
  }
}

TEST_F(HuggingFaceWriterTest, SplitsAboveTheLimitInOrderOfNames) {
  Zeros source({{"a", {ElementType::kF32, {10}}},
                {"b", {ElementType::kF32, {15}}},
                {"c", {ElementType::kF32, {1}}},
                {"d", {ElementType::kF32, {60}}},
                {"e", {ElementType::kF32, {1}}},
                {"optimizer.state.a.exp_avg", {ElementType::kF32, {10}}}});
  const HuggingFaceWritten written =
      value_or_throw(write_hugging_face(target_, source, {}, {.shard_limit = 100}));
  EXPECT_EQ(written.files.size(), 4U);
  EXPECT_EQ(written.bytes, 87U * 4);
  EXPECT_EQ(written.tensors, 5U);
  const std::string index = contents(target_ + "/" + kIndexName);
  EXPECT_THAT(index, HasSubstr(R"("total_size": 348)"));
  const auto files = value_or_throw(parse_hugging_face_index(index, "index"));
  const auto shard = [](int number) {
    return "model-0000" + std::to_string(number) + "-of-00004.safetensors";
  };
  EXPECT_EQ(
      files,
      (std::map<std::string, std::string>{
          {"a", shard(1)}, {"b", shard(1)}, {"c", shard(2)}, {"d", shard(3)}, {"e", shard(4)}}));
  for (int number = 1; number <= 4; ++number) {
    const auto file = value_or_throw(SafetensorsFile::open(target_ + "/" + shard(number)));
    EXPECT_EQ(file.header().metadata.at("format"), "pt");
  }
}

TEST_F(HuggingFaceWriterTest, ReadsBackItsShards) {
  copy("llama_tiny", {.shard_limit = 20'000});
  EXPECT_GT(names_in(target_).size(), 4U);
  const auto source = value_or_throw(HuggingFaceFolder::open(target_));
  const auto truth = value_or_throw(HuggingFaceFolder::open(data("llama_tiny")));
  EXPECT_EQ(source->tensors(), truth->tensors());
  EXPECT_EQ(source->config().model, truth->config().model);
}

TEST_F(HuggingFaceWriterTest, RemovesStaleWeightsButNothingElse) {
  copy("llama_tiny", {.shard_limit = 20'000});
  write_file(target_ + "/tokenizer.json", "{}");
  write_file(target_ + "/other.safetensors", "kept");
  copy("llama_tied_uneven", {.overwrite = true});
  EXPECT_EQ(names_in(target_),
            (Names{"config.json", "model.safetensors", "other.safetensors", "tokenizer.json"}));
  EXPECT_EQ(names_in(folder_.path()), Names{"model"});
}

TEST_F(HuggingFaceWriterTest, RefusesATargetThatHoldsSomething) {
  fs::create_directories(target_);
  Zeros source({{"a", {ElementType::kF32, {1}}}});
  value_or_throw(write_hugging_face(target_, source, {}, {}));  // it was empty
  EXPECT_THAT(complaint(source),
              AllOf(HasSubstr(target_ + " is there already"), HasSubstr("--overwrite")));
  write_file(target_ + "/manifest.json", "");
  EXPECT_THAT(complaint(source, {.overwrite = true}), HasSubstr("is a checkpoint of Brigade's"));
  target_ = folder_ / "file";
  write_file(target_, "x");
  EXPECT_THAT(complaint(source, {.overwrite = true}), HasSubstr("is no folder"));
}

TEST_F(HuggingFaceWriterTest, ConvertsToTheTypeAskedFor) {
  copy("llama_tiny", {.type = ElementType::kBF16});
  const auto half = value_or_throw(HuggingFaceFolder::open(target_));
  for (const auto& [name, tensor] : half->tensors()) {
    EXPECT_EQ(tensor.type, ElementType::kBF16) << name;
  }
  EXPECT_THAT(contents(target_ + "/config.json"), HasSubstr(R"("dtype": "bfloat16")"));
  const auto whole = value_or_throw(HuggingFaceFolder::open(data("llama_tiny")));
  const sharding::Box box{{{3, 4}, {0, 32}}};
  std::vector<float> rounded(32);
  std::vector<float> exact(32);
  value_or_throw(read_float32(*half, "lm_head.weight", box, rounded));
  value_or_throw(read_float32(*whole, "lm_head.weight", box, exact));
  for (size_t i = 0; i < exact.size(); ++i) {
    EXPECT_NEAR(rounded[i], exact[i], std::abs(exact[i]) / 256);
  }
}

TEST_F(HuggingFaceWriterTest, RefusesTypesThatWeightsDoNotHave) {
  Zeros source({{"a", {ElementType::kF64, {1}}}});
  EXPECT_THAT(complaint(source),
              HasSubstr("zeros: tensor a: weights are written as F32, BF16 or "
                        "F16; it is F64"));
  EXPECT_TRUE(write_hugging_face(target_, source, {}, {.type = ElementType::kF32}));
  Zeros none({});
  EXPECT_THAT(complaint(none, {.overwrite = true}), HasSubstr("no tensors to write"));
}

TEST_F(HuggingFaceWriterTest, PullsLargeTensorsInPieces) {
  Zeros source({{"a", {ElementType::kF32, {5000, 1000}}}});
  value_or_throw(write_hugging_face(target_, source, {}));
  EXPECT_EQ(source.bytes_read(), 20'000'000U);
  EXPECT_LE(source.largest(), 8U << 20);
}

TEST_F(HuggingFaceWriterTest, LeavesNothingWhenASourceFails) {
  class Broken final : public TensorSource {
   public:
    const std::string& path() const override { return path_; }
    const SourceTensors& tensors() const override { return tensors_; }
    Result<void> read(std::string_view, const sharding::Box&, std::span<std::byte>) override {
      return fail(ErrorCode::kData, "broken");
    }
    uint64_t bytes_read() const override { return 0; }

   private:
    std::string path_ = "broken";
    SourceTensors tensors_ = {{"a", {ElementType::kF32, {1}}}};
  };
  Broken source;
  EXPECT_EQ(complaint(source), "broken");
  EXPECT_EQ(names_in(folder_.path()), Names());
}

}  // namespace
}  // namespace brigade::checkpoint
