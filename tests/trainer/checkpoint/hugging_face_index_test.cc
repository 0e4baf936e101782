// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/hugging_face_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade::checkpoint {
namespace {

using ::testing::HasSubstr;

std::string complaint(std::string_view text) {
  const auto files = parse_hugging_face_index(text, "index.json");
  EXPECT_FALSE(files) << text;
  return files ? "" : files.error().text;
}

TEST(HuggingFaceIndex, ReadsWhatItWrites) {
  const std::map<std::string, std::string> files = {{"a", "one"}, {"b", "two"}};
  EXPECT_EQ(parse_hugging_face_index(hugging_face_index(files, 12), "index.json"), files);
  EXPECT_THAT(hugging_face_index(files, 12), HasSubstr(R"("total_size": 12)"));
}

TEST(HuggingFaceIndex, R126_RefusesFileNamesThatCouldLeadOut) {
  for (const char* name :
       {"../evil.safetensors", "/etc/passwd", "sub/../../x", "", "..", "a\\u0000b"}) {
    const std::string text = std::string(R"({"weight_map": {"w": ")") + name + R"("}})";
    EXPECT_THAT(complaint(text),
                HasSubstr("index.json: tensor w: expected the plain name of a file beside the "
                          "index; found \""))
        << name;
  }
}

TEST(HuggingFaceIndex, RefusesWhatIsNoIndex) {
  EXPECT_THAT(complaint("{}"), HasSubstr("expected an object weight_map"));
  EXPECT_THAT(complaint(R"({"weight_map": []})"), HasSubstr("expected an object weight_map"));
  EXPECT_THAT(complaint(R"({"weight_map": {"w": 1}})"), HasSubstr("tensor w: expected a file"));
}

TEST(HuggingFaceIndex, R103_RefusesATensorThatIsInTwoFiles) {
  EXPECT_EQ(complaint(R"({"weight_map": {"w": "a", "w": "b"}})"),
            "index.json: duplicate key \"w\"");
}

TEST(HuggingFaceIndex, CallsFilesAsTransformersDoes) {
  EXPECT_EQ(hugging_face_shard_name(0, 1), "model.safetensors");
  EXPECT_EQ(hugging_face_shard_name(1, 12), "model-00002-of-00012.safetensors");
  for (const char* name :
       {"model.safetensors", "model-00001-of-00002.safetensors", "model.safetensors.index.json"}) {
    EXPECT_TRUE(is_hugging_face_weights_name(name)) << name;
  }
  for (const char* name : {"config.json",
                           "tokenizer.json",
                           "my-model.safetensors",
                           "model.safetensors.tmp.5",
                           "model-1-of-2.safetensors"}) {
    EXPECT_FALSE(is_hugging_face_weights_name(name)) << name;
  }
}

}  // namespace
}  // namespace brigade::checkpoint
