// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/hugging_face_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/trainer/checkpoint/temporary_folder.h"

namespace brigade::checkpoint {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// What a case's config.json says, with `changes` over it.
json changed(const char* folder, const json& changes) {
  json file = json::parse(contents(std::string(BRIGADE_TEST_DATA) + "/" + folder + "/config.json"));
  file.update(changes);
  return file;
}

json llama(const json& changes = json::object()) {
  return changed("llama_tied_uneven", changes);
}

json gpt2(const json& changes = json::object()) {
  return changed("gpt2_tiny", changes);
}

HuggingFaceConfig read(const json& file) {
  return value_or_throw(parse_hugging_face_config(file.dump(), "config.json"));
}

std::string complaint(const json& file) {
  const auto config = parse_hugging_face_config(file.dump(), "config.json");
  EXPECT_FALSE(config) << file;
  return config ? "" : config.error().text;
}

TEST(HuggingFaceConfig, ReadsALlama) {
  const HuggingFaceConfig config = read(llama());
  EXPECT_EQ(config.model.name, "llama3");
  EXPECT_EQ(config.model.dim, 32);
  EXPECT_EQ(config.model.n_layers, 7);
  EXPECT_EQ(config.model.n_heads, 4);
  EXPECT_EQ(config.model.n_kv_heads, 2);
  EXPECT_EQ(config.model.ffn_dim, 70);
  EXPECT_EQ(config.model.vocab_size, 97);
  EXPECT_EQ(config.model.rope_theta, 10000.0);
  EXPECT_EQ(config.model.norm_eps, 1e-5);
  EXPECT_TRUE(config.model.tie_embeddings);
  EXPECT_EQ(config.max_positions, 64);
  EXPECT_THAT(config.notes, IsEmpty());
}

TEST(HuggingFaceConfig, ReadsAGpt2) {
  const HuggingFaceConfig config = read(gpt2({{"resid_pdrop", 0.25}, {"embd_pdrop", 0.25}}));
  EXPECT_EQ(config.model.name, "gpt2");
  EXPECT_EQ(config.model.dim, 24);
  EXPECT_EQ(config.model.n_layers, 2);
  EXPECT_EQ(config.model.n_heads, 3);
  EXPECT_EQ(config.model.ffn_dim, 96);
  EXPECT_EQ(config.model.vocab_size, 101);
  EXPECT_EQ(config.model.n_positions, 32);
  EXPECT_EQ(config.model.dropout, 0.25);
  EXPECT_TRUE(config.model.tie_embeddings);
  EXPECT_EQ(read(gpt2({{"n_inner", 50}})).model.ffn_dim, 50);
}

TEST(HuggingFaceConfig, TakesTheRotaryBaseFromWhereItIs) {
  const auto theta = [](const json& changes) { return read(llama(changes)).model.rope_theta; };
  const json none = {{"rope_parameters", nullptr}};
  EXPECT_EQ(theta(none), 10000.0);
  EXPECT_EQ(theta({{"rope_parameters", nullptr}, {"rope_theta", 5e5}}), 5e5);
  EXPECT_EQ(theta({{"rope_parameters", {{"rope_theta", 2e4}}}, {"rope_theta", 5e5}}), 2e4);
  EXPECT_EQ(theta({{"rope_parameters", {{"rope_type", "default"}}}, {"rope_theta", 5e5}}), 5e5);
  EXPECT_EQ(theta({{"rope_parameters", nullptr}, {"rope_scaling", {{"type", "default"}}}}), 1e4);
}

TEST(HuggingFaceConfig, TakesTransformersDefaultsForWhatIsNotSaid) {
  const json bare = {{"model_type", "llama"},
                     {"hidden_size", 32},
                     {"intermediate_size", 64},
                     {"num_hidden_layers", 1},
                     {"num_attention_heads", 4},
                     {"vocab_size", 96}};
  const HuggingFaceConfig config = read(bare);
  EXPECT_EQ(config.model.n_kv_heads, 4);
  EXPECT_EQ(config.model.norm_eps, 1e-6);
  EXPECT_FALSE(config.model.tie_embeddings);
  EXPECT_EQ(config.max_positions, 2048);
}

TEST(HuggingFaceConfig, RefusesEachFieldThatChangesWhatALlamaComputes) {
  const std::vector<std::pair<json, const char*>> cases = {
      {{{"hidden_act", "gelu"}}, R"(hidden_act: found "gelu", accepted is "silu")"},
      {{{"attention_bias", true}}, "attention_bias: found true, accepted is false"},
      {{{"mlp_bias", true}}, "mlp_bias: found true, accepted is false"},
      {{{"head_dim", 16}}, "head_dim: found 16, accepted is hidden_size / num_attention_heads = 8"},
      {{{"sliding_window", 4096}}, "sliding_window: found 4096, accepted is null"},
      {{{"num_attention_heads", 5}}, "num_attention_heads: found 5, accepted is a divisor"},
      {{{"num_key_value_heads", 3}}, "num_key_value_heads: found 3, accepted is a divisor"},
      {{{"partial_rotary_factor", 0.5}}, "partial_rotary_factor: found 0.5, accepted is 1.0"},
      {{{"rope_scaling", {{"type", "linear"}, {"factor", 2.0}}}},
       R"(rope_scaling.type: found "linear", accepted is "default")"},
      {{{"rope_parameters", {{"rope_type", "llama3"}, {"rope_theta", 5e5}}}},
       R"(rope_parameters.rope_type: found "llama3", accepted is "default")"},
      {{{"rope_parameters", {{"full_attention", {{"rope_theta", 1.0}}}}}},
       "accepted is one set of values for all layers"},
      {{{"model_type", "mistral"}},
       R"(model_type: found "mistral", accepted is "llama" or "gpt2")"},
      {{{"architectures", {"LlamaForSequenceClassification", "x"}}}, "architectures: found "},
      {{{"quantization_config", {{"quant_method", "gptq"}}}}, "quantization_config: found "},
      {{{"vocab_size", 0}}, "vocab_size: found 0, accepted is a whole number of at least 1"}};
  for (const auto& [changes, text] : cases) {
    EXPECT_THAT(complaint(llama(changes)), AllOf(HasSubstr("config.json: "), HasSubstr(text)));
  }
}

TEST(HuggingFaceConfig, RefusesEachFieldThatChangesWhatAGpt2Computes) {
  const std::vector<std::pair<json, const char*>> cases = {
      {{{"activation_function", "relu"}},
       R"(activation_function: found "relu", accepted is "gelu_new")"},
      {{{"scale_attn_weights", false}}, "scale_attn_weights: found false, accepted is true"},
      {{{"scale_attn_by_inverse_layer_idx", true}},
       "scale_attn_by_inverse_layer_idx: found true, accepted is false"},
      {{{"reorder_and_upcast_attn", true}}, "reorder_and_upcast_attn: found true"},
      {{{"add_cross_attention", true}}, "add_cross_attention: found true"},
      {{{"n_head", 5}}, "n_head: found 5, accepted is a divisor of n_embd = 24"},
      {{{"resid_pdrop", 1.0}}, "resid_pdrop: found 1.0"},
      {{{"n_positions", nullptr}}, "n_positions: found nothing"}};
  for (const auto& [changes, text] : cases) {
    EXPECT_THAT(complaint(gpt2(changes)), HasSubstr(text));
  }
}

TEST(HuggingFaceConfig, ListsAllProblemsAtOnce) {
  EXPECT_EQ(complaint(llama({{"mlp_bias", true}, {"hidden_act", "relu"}})),
            "config.json: hidden_act: found \"relu\", accepted is \"silu\"; mlp_bias: found true, "
            "accepted is false");
}

TEST(HuggingFaceConfig, TellsOfDropoutThatIsNotFollowed) {
  EXPECT_THAT(read(gpt2({{"attn_pdrop", 0.1}, {"embd_pdrop", 0.2}, {"resid_pdrop", 0.3}})).notes,
              ElementsAre("embd_pdrop = 0.2 is not followed: the embedding is dropped as "
                          "resid_pdrop says",
                          "attn_pdrop = 0.1 is not followed: attention's weights are not dropped "
                          "here"));
}

TEST(HuggingFaceConfig, WritesWhatItReads) {
  for (const json& file : {llama(), gpt2(), gpt2({{"n_inner", 50}, {"resid_pdrop", 0.1}})}) {
    const HuggingFaceConfig config = read(file);
    const HuggingFaceConfig again =
        read(json::parse(hugging_face_config(config, ElementType::kF32)));
    EXPECT_EQ(again.model, config.model);
    EXPECT_EQ(again.max_positions, config.max_positions);
  }
}

TEST(HuggingFaceConfig, WritesOldAndNewKeysAndFloatsAsFloats) {
  const std::string text = hugging_face_config(read(llama()), ElementType::kBF16);
  for (const char* part : {R"("rope_theta": 10000.0)",
                           R"("rope_type": "default")",
                           R"("dtype": "bfloat16")",
                           R"("torch_dtype": "bfloat16")",
                           R"("rms_norm_eps": 1e-05)",
                           R"("bos_token_id": null)"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  const json file = json::parse(text);
  EXPECT_EQ(file["rope_parameters"]["rope_theta"], 10000.0);
  EXPECT_EQ(file["architectures"], json::array({"LlamaForCausalLM"}));
}

TEST(HuggingFaceConfig, WritesEveryFieldThatACaseHas) {
  // What transformers wrote of the same models; its own marks and token ids apart.
  for (const json& file : {llama(), gpt2()}) {
    const json ours = json::parse(hugging_face_config(read(file), ElementType::kF32));
    for (const auto& [key, value] : file.items()) {
      if (key.find("token_id") == std::string::npos && !key.starts_with("summary_") &&
          key != "transformers_version" && key != "add_cross_attention") {
        EXPECT_EQ(ours.value(key, json("missing")), value) << key;
      }
    }
  }
}

TEST(HuggingFaceConfig, ListsWhatDiffersBetweenTwoModels) {
  const config::Model found = read(llama()).model;
  config::Model wanted = found;
  wanted.dropout = 0.5;  // a matter of training
  wanted.flavor = "tiny";
  EXPECT_THAT(model_differences(found, "the file", wanted), IsEmpty());
  wanted.dim = 48;
  wanted.rope_theta = 5e5;
  EXPECT_THAT(model_differences(found, "the file", wanted),
              ElementsAre("model.dim: 32 in the file, 48 wanted",
                          "model.rope_theta: 10000 in the file, 500000 wanted"));
  EXPECT_THAT(model_differences(found, "the file", read(gpt2()).model),
              ElementsAre("model.name: llama3 in the file, gpt2 wanted"));
}

}  // namespace
}  // namespace brigade::checkpoint
