// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/hugging_face_folder.h"

#include <filesystem>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/trainer/checkpoint/temporary_folder.h"
#include "trainer/checkpoint/hugging_face_index.h"
#include "trainer/checkpoint/safetensors_writer.h"

namespace brigade::checkpoint {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Tensor {
  std::string name;
  std::vector<uint64_t> shape;
  float first = 0.0F;  ///< the elements count up from here
};

void write_weights(const std::string& path, const std::vector<Tensor>& tensors) {
  std::vector<std::vector<float>> values;
  std::vector<TensorToWrite> all;
  for (const Tensor& tensor : tensors) {
    uint64_t count = 1;
    for (const uint64_t size : tensor.shape) {
      count *= size;
    }
    values.emplace_back(count);
    std::iota(values.back().begin(), values.back().end(), tensor.first);
    all.push_back(
        {tensor.name, ElementType::kF32, tensor.shape, std::as_bytes(std::span(values.back()))});
  }
  value_or_throw(write_safetensors(path, all, {{"format", "pt"}}));
}

class HuggingFaceFolderTest : public ::testing::Test {
 protected:
  void config(const char* of, const json& changes = json::object()) {
    json file = json::parse(contents(std::string(BRIGADE_TEST_DATA) + "/" + of + "/config.json"));
    file.update(changes);
    write_file(folder_ / "config.json", file.dump());
  }

  void llama() { config("llama_tiny"); }

  void index(const std::map<std::string, std::string>& files) {
    write_file(folder_ / kIndexName, hugging_face_index(files, 0));
  }

  std::unique_ptr<HuggingFaceFolder> open() {
    return value_or_throw(HuggingFaceFolder::open(folder_.path()));
  }

  std::string complaint() {
    const auto source = HuggingFaceFolder::open(folder_.path());
    EXPECT_FALSE(source);
    return source ? "" : source.error().text;
  }

  std::vector<float> read(HuggingFaceFolder& source, const char* name, const sharding::Box& box) {
    std::vector<float> out(static_cast<size_t>(box.element_count()));
    value_or_throw(source.read(name, box, std::as_writable_bytes(std::span(out))));
    return out;
  }

  TemporaryFolder folder_;
};

TEST_F(HuggingFaceFolderTest, ReadsBoxesOfASingleFile) {
  llama();
  write_weights(folder_ / "model.safetensors", {{"model.norm.weight", {2, 3}, 1.0F}});
  const auto source = open();
  EXPECT_EQ(source->path(), folder_.path());
  EXPECT_EQ(source->config().model.dim, 32);
  EXPECT_EQ(source->tensors().at("model.norm.weight"), (SourceTensor{ElementType::kF32, {2, 3}}));
  const uint64_t headers = source->bytes_read();
  EXPECT_THAT(read(*source, "model.norm.weight", {{{0, 2}, {1, 3}}}), ElementsAre(2, 3, 5, 6));
  EXPECT_EQ(source->bytes_read(), headers + 16);
}

TEST_F(HuggingFaceFolderTest, ReadsShards) {
  llama();
  write_weights(folder_ / "one.safetensors", {{"a", {1}, 1.0F}, {"b", {1}, 2.0F}});
  write_weights(folder_ / "two.safetensors", {{"c", {1}, 3.0F}});
  index({{"a", "one.safetensors"}, {"b", "one.safetensors"}, {"c", "two.safetensors"}});
  const auto source = open();
  EXPECT_EQ(source->tensors().size(), 3U);
  EXPECT_THAT(read(*source, "b", {{{0, 1}}}), ElementsAre(2));
  EXPECT_THAT(read(*source, "c", {{{0, 1}}}), ElementsAre(3));
}

TEST_F(HuggingFaceFolderTest, GivesGpt2sTensorsOurNamesAndShapes) {
  config("gpt2_tiny");
  write_weights(folder_ / "model.safetensors",
                {{"h.0.attn.c_attn.weight", {2, 6}},
                 {"h.0.attn.bias", {1, 1, 4, 4}},
                 {"h.0.attn.masked_bias", {}},
                 {"wte.weight", {4, 2}}});
  const auto source = open();
  EXPECT_EQ(source->tensors().size(), 2U);
  EXPECT_TRUE(source->tensors().contains("transformer.wte.weight"));
  EXPECT_EQ(source->tensors().at("transformer.h.0.attn.c_attn.weight").shape,
            (sharding::Shape{2, 3, 2}));
  // The second element of every head's v.
  EXPECT_THAT(read(*source, "transformer.h.0.attn.c_attn.weight", {{{0, 2}, {2, 3}, {1, 2}}}),
              ElementsAre(5, 11));
}

TEST_F(HuggingFaceFolderTest, RefusesATensorWithAndWithoutItsPrefix) {
  config("gpt2_tiny");
  write_weights(folder_ / "model.safetensors",
                {{"wte.weight", {4, 2}}, {"transformer.wte.weight", {4, 2}}});
  EXPECT_THAT(complaint(), HasSubstr("tensor transformer.wte.weight is there twice"));
}

TEST_F(HuggingFaceFolderTest, LeavesOutATiedHeadThatEqualsTheEmbedding) {
  config("llama_tied_uneven");
  write_weights(folder_ / "model.safetensors",
                {{"lm_head.weight", {2, 2}, 1.0F}, {"model.embed_tokens.weight", {2, 2}, 1.0F}});
  EXPECT_FALSE(open()->tensors().contains("lm_head.weight"));
  config("llama_tied_uneven", {{"tie_word_embeddings", false}});
  EXPECT_TRUE(open()->tensors().contains("lm_head.weight"));
}

TEST_F(HuggingFaceFolderTest, RefusesATiedHeadWithValuesOfItsOwn) {
  config("llama_tied_uneven");
  write_weights(folder_ / "model.safetensors",
                {{"lm_head.weight", {2, 2}, 2.0F}, {"model.embed_tokens.weight", {2, 2}, 1.0F}});
  EXPECT_THAT(complaint(),
              AllOf(HasSubstr("lm_head.weight differs from model.embed_tokens.weight"),
                    HasSubstr("set it to false in config.json")));
  write_weights(folder_ / "model.safetensors",
                {{"lm_head.weight", {3, 2}, 1.0F}, {"model.embed_tokens.weight", {2, 2}, 1.0F}});
  EXPECT_THAT(complaint(), HasSubstr("lm_head.weight differs"));
}

TEST_F(HuggingFaceFolderTest, PassesOverRotaryFrequencies) {
  llama();
  write_weights(
      folder_ / "model.safetensors",
      {{"model.layers.0.self_attn.rotary_emb.inv_freq", {4}}, {"model.norm.weight", {4}}});
  EXPECT_EQ(open()->tensors().size(), 1U);
}

TEST_F(HuggingFaceFolderTest, R106_RefusesMetasLayoutByItsNames) {
  llama();
  write_weights(folder_ / "model.safetensors", {{"layers.0.attention.wq.weight", {4, 4}}});
  EXPECT_THAT(complaint(),
              AllOf(HasSubstr("tensor layers.0.attention.wq.weight"), HasSubstr("interleaved")));
}

TEST_F(HuggingFaceFolderTest, R126_OpensNothingOutsideItsFolder) {
  llama();
  write_weights(folder_ / "evil.safetensors", {{"w", {1}}});
  const std::string home = folder_ / "home";
  fs::create_directories(home + "/sub");
  fs::rename(folder_ / "config.json", home + "/config.json");
  fs::create_symlink("../evil.safetensors", home + "/link.safetensors");
  const auto told = [&](const std::string& name) {
    write_file(home + "/" + kIndexName, json{{"weight_map", {{"w", name}}}}.dump());
    const auto source = HuggingFaceFolder::open(home);
    EXPECT_FALSE(source) << name;
    return source ? "" : source.error().text;
  };
  for (const std::string& name : {std::string("../evil.safetensors"),
                                  std::string("/etc/passwd"),
                                  std::string("sub/../../evil.safetensors"),
                                  std::string("a\0b", 3),
                                  std::string()}) {
    EXPECT_THAT(told(name), HasSubstr("expected the plain name of a file")) << name;
  }
  EXPECT_THAT(told("link.safetensors"), HasSubstr("is a symbolic link that leaves its folder"));
  fs::remove(home + "/" + kIndexName);
  fs::create_symlink("../evil.safetensors", home + "/model.safetensors");
  EXPECT_THAT(HuggingFaceFolder::open(home).error().text,
              HasSubstr("is a symbolic link that leaves its folder"));
}

TEST_F(HuggingFaceFolderTest, RefusesShardsThatDoNotFitTheIndex) {
  llama();
  write_weights(folder_ / "one", {{"a", {1}}, {"b", {1}}});
  write_weights(folder_ / "two", {{"c", {1}}});
  index({{"a", "one"}, {"b", "one"}, {"c", "two"}, {"d", "two"}});
  EXPECT_THAT(complaint(), AllOf(HasSubstr("tensor d is not in"), HasSubstr("/two, where")));
  index({{"a", "one"}, {"b", "two"}, {"c", "two"}});
  EXPECT_THAT(complaint(),
              AllOf(HasSubstr("tensor b is not in"), HasSubstr("but in"), HasSubstr("/one")));
  index({{"a", "one"}, {"c", "two"}});
  EXPECT_THAT(complaint(), HasSubstr("lacks: 1 (b)"));
  index({{"a", "one"}, {"b", "one"}, {"c", "three"}});
  EXPECT_THAT(complaint(), HasSubstr("no file \"three\""));
}

TEST_F(HuggingFaceFolderTest, R103_RefusesATensorInTwoShards) {
  llama();
  write_weights(folder_ / "one", {{"a", {1}}});
  write_weights(folder_ / "two", {{"a", {1}}, {"b", {1}}});
  index({{"a", "one"}, {"b", "two"}});
  EXPECT_THAT(
      complaint(),
      AllOf(HasSubstr("tensor a is in two shards"), HasSubstr("/one and"), HasSubstr("/two")));
}

TEST_F(HuggingFaceFolderTest, R102_NamesABrokenShard) {
  llama();
  write_weights(folder_ / "one", {{"a", {4}}});
  index({{"a", "one"}});
  const std::string whole = contents(folder_ / "one");
  for (const size_t size : {size_t{0}, size_t{8}, whole.size() - 1}) {
    write_file(folder_ / "one", whole.substr(0, size));
    EXPECT_THAT(complaint(), HasSubstr("/one: ")) << size;
  }
}

TEST_F(HuggingFaceFolderTest, R104_SaysDuplicateAndTheKey) {
  llama();
  const std::string header = R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                             R"("a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})";
  std::string file(8, '\0');
  file[0] = static_cast<char>(header.size());
  write_file(folder_ / "model.safetensors", file + header + "xy");
  EXPECT_THAT(complaint(), AllOf(HasSubstr("duplicate"), HasSubstr("a")));
}

TEST_F(HuggingFaceFolderTest, SaysWhatIsMissing) {
  EXPECT_THAT(complaint(), HasSubstr("no file \"config.json\""));
  llama();
  EXPECT_THAT(complaint(), HasSubstr("neither model.safetensors nor model.safetensors.index.json"));
  write_file(folder_ / "pytorch_model.bin", "");
  EXPECT_THAT(complaint(),
              AllOf(HasSubstr("pytorch_model.bin is a pickle"), HasSubstr("save_pretrained()")));
  EXPECT_THAT(HuggingFaceFolder::open(folder_ / "none").error().text,
              HasSubstr("none does not exist; expected one with config.json"));
  EXPECT_THAT(HuggingFaceFolder::open(folder_ / "config.json").error().text,
              HasSubstr("config.json is no folder"));
}

TEST_F(HuggingFaceFolderTest, RefusesTwoSavesInOneFolder) {
  llama();
  write_weights(folder_ / "model.safetensors", {{"a", {1}}});
  index({{"a", "model.safetensors"}});
  EXPECT_THAT(complaint(), HasSubstr("both model.safetensors and model.safetensors.index.json"));
}

TEST_F(HuggingFaceFolderTest, RefusesQuantizedWeights) {
  config("llama_tiny", {{"quantization_config", {{"quant_method", "awq"}}}});
  write_weights(folder_ / "model.safetensors", {{"a", {1}}});
  EXPECT_THAT(complaint(), AllOf(HasSubstr("quantization_config"), HasSubstr("awq")));
}

}  // namespace
}  // namespace brigade::checkpoint
