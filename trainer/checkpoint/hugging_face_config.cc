// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/hugging_face_config.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "trainer/checkpoint/config_fields.h"
#include "trainer/checkpoint/json_object.h"

namespace brigade::checkpoint {
namespace {

using nlohmann::json;

constexpr double kDefaultTheta = 10000.0;  // transformers', for llama
constexpr int64_t kDefaultPositions = 2048;

/// Reads one file.
class Reader {
 public:
  explicit Reader(const json& file) : fields_(file, "", problems_) {}

  HuggingFaceConfig read() {
    const std::string family = fields_.text("model_type", "");
    if (fields_.has("quantization_config")) {
      fields_.refuse("quantization_config", "null: weights as numbers, not quantized");
    }
    if (family == "llama") {
      read_llama();
    } else if (family == "gpt2") {
      read_gpt2();
    } else {
      fields_.refuse("model_type", R"("llama" or "gpt2")");
    }
    return std::move(found_);
  }

  const std::vector<std::string>& problems() const { return problems_; }

 private:
  /// A model with another head has other parameters.
  void demand_architecture(const std::vector<std::string>& accepted) {
    const json* value = fields_.find("architectures");
    if (value == nullptr) {
      return;
    }
    for (const std::string& name : accepted) {
      if (*value == json::array({name})) {
        return;
      }
    }
    fields_.refuse("architectures", json::array({accepted.front()}).dump());
  }

  void note(const char* field, double value, const char* why) {
    if (value != 0.0) {
      found_.notes.push_back(concat(field, " = ", json(value).dump(), " is not followed: ", why));
    }
  }

  void read_llama() {
    config::Model& model = found_.model;
    model.name = "llama3";
    demand_architecture({"LlamaForCausalLM"});
    model.dim = fields_.size("hidden_size");
    model.ffn_dim = fields_.size("intermediate_size");
    model.n_layers = fields_.size("num_hidden_layers");
    model.n_heads = fields_.size("num_attention_heads");
    model.n_kv_heads = fields_.size("num_key_value_heads", model.n_heads);
    model.vocab_size = fields_.size("vocab_size");
    model.norm_eps = fields_.number("rms_norm_eps", 1e-6);
    model.tie_embeddings = fields_.truth("tie_word_embeddings", false);
    found_.max_positions = fields_.size("max_position_embeddings", kDefaultPositions);
    demand_head_size();
    fields_.demand("hidden_act", fields_.text("hidden_act", "silu"), std::string("silu"), "");
    fields_.demand("attention_bias", fields_.truth("attention_bias", false), false, "");
    fields_.demand("mlp_bias", fields_.truth("mlp_bias", false), false, "");
    fields_.demand("is_causal", fields_.truth("is_causal", true), true, "");
    fields_.demand_none("sliding_window", ": attention sees the whole sequence");
    note("attention_dropout",
         fields_.number("attention_dropout", 0.0),
         "attention's weights are not dropped here");
    read_rope();
  }

  void demand_head_size() {
    const config::Model& model = found_.model;
    if (model.dim % model.n_heads != 0) {
      fields_.refuse("num_attention_heads", concat("a divisor of hidden_size = ", model.dim));
    } else if (fields_.size("head_dim", model.dim / model.n_heads) != model.dim / model.n_heads) {
      fields_.refuse("head_dim",
                     concat("hidden_size / num_attention_heads = ", model.dim / model.n_heads));
    }
    if (model.n_heads % model.n_kv_heads != 0) {
      fields_.refuse("num_key_value_heads",
                     concat("a divisor of num_attention_heads = ", model.n_heads));
    }
  }

  void read_rope() {
    double theta = fields_.number("rope_theta", kDefaultTheta);
    fields_.demand("partial_rotary_factor", fields_.number("partial_rotary_factor", 1.0), 1.0, "");
    // transformers 5 takes rope_scaling, the older name, before rope_parameters.
    for (const char* field : {"rope_parameters", "rope_scaling"}) {
      const json* rope = fields_.find(field);
      if (rope == nullptr) {
        continue;
      }
      if (!rope->is_object()) {
        fields_.refuse(field, "an object or null");
        continue;
      }
      ConfigFields inside(*rope, std::string(field) + ".", problems_);
      for (const char* type : {"rope_type", "type"}) {
        inside.demand(type,
                      inside.text(type, "default"),
                      std::string("default"),
                      ": rotary frequencies are not scaled here");
      }
      inside.demand("partial_rotary_factor", inside.number("partial_rotary_factor", 1.0), 1.0, "");
      demand_no_layer_types(field, *rope);
      theta = inside.number("rope_theta", theta);
    }
    if (!(theta > 0.0)) {
      fields_.refuse("rope_theta", "a number above 0");
    }
    found_.model.rope_theta = theta;
  }

  void demand_no_layer_types(const char* field, const json& rope) {
    for (const auto& [key, value] : rope.items()) {
      if (value.is_object()) {
        fields_.refuse(field, "one set of values for all layers");
        return;
      }
    }
  }

  void read_gpt2() {
    config::Model& model = found_.model;
    model.name = "gpt2";
    demand_architecture({"GPT2LMHeadModel", "GPT2Model"});
    model.dim = fields_.size("n_embd");
    model.n_layers = fields_.size("n_layer");
    model.n_heads = fields_.size("n_head");
    model.n_kv_heads = model.n_heads;
    model.vocab_size = fields_.size("vocab_size");
    model.n_positions = fields_.size("n_positions");
    model.ffn_dim = fields_.size("n_inner", 4 * model.dim);
    model.norm_eps = fields_.number("layer_norm_epsilon", 1e-5);
    model.tie_embeddings = fields_.truth("tie_word_embeddings", true);
    found_.max_positions = model.n_positions;
    if (model.dim % model.n_heads != 0) {
      fields_.refuse("n_head", concat("a divisor of n_embd = ", model.dim));
    }
    // Two names of the same function.
    const std::string activation = fields_.text("activation_function", "gelu_new");
    if (activation != "gelu_pytorch_tanh") {
      fields_.demand("activation_function", activation, std::string("gelu_new"), "");
    }
    fields_.demand("scale_attn_weights", fields_.truth("scale_attn_weights", true), true, "");
    for (const char* field :
         {"scale_attn_by_inverse_layer_idx", "reorder_and_upcast_attn", "add_cross_attention"}) {
      fields_.demand(field, fields_.truth(field, false), false, "");
    }
    read_dropout();
  }

  void read_dropout() {
    found_.model.dropout = fields_.number("resid_pdrop", 0.1);
    if (!(found_.model.dropout >= 0.0 && found_.model.dropout < 1.0)) {
      fields_.refuse("resid_pdrop", "a number of at least 0 and below 1");
    }
    const double embedding = fields_.number("embd_pdrop", 0.1);
    if (embedding != found_.model.dropout) {
      note("embd_pdrop", embedding, "the embedding is dropped as resid_pdrop says");
    }
    note("attn_pdrop",
         fields_.number("attn_pdrop", 0.1),
         "attention's weights are not dropped here");
  }

  HuggingFaceConfig found_;
  std::vector<std::string> problems_;
  ConfigFields fields_;
};

const char* torch_name(ElementType type) {
  switch (type) {
    case ElementType::kF32: return "float32";
    case ElementType::kBF16: return "bfloat16";
    case ElementType::kF16: return "float16";
    default: BRIGADE_CHECK(false, type);
  }
}

json llama_json(const HuggingFaceConfig& config) {
  const config::Model& model = config.model;
  return {{"architectures", json::array({"LlamaForCausalLM"})},
          {"model_type", "llama"},
          {"attention_bias", false},
          {"attention_dropout", 0.0},
          {"head_dim", model.dim / model.n_heads},
          {"hidden_act", "silu"},
          {"hidden_size", model.dim},
          {"intermediate_size", model.ffn_dim},
          {"max_position_embeddings", config.max_positions},
          {"mlp_bias", false},
          {"num_attention_heads", model.n_heads},
          {"num_hidden_layers", model.n_layers},
          {"num_key_value_heads", model.n_kv_heads},
          {"pretraining_tp", 1},
          {"rms_norm_eps", model.norm_eps},
          {"rope_parameters", {{"rope_theta", model.rope_theta}, {"rope_type", "default"}}},
          {"rope_scaling", nullptr},
          {"rope_theta", model.rope_theta}};
}

json gpt2_json(const HuggingFaceConfig& config) {
  const config::Model& model = config.model;
  return {{"architectures", json::array({"GPT2LMHeadModel"})},
          {"model_type", "gpt2"},
          {"activation_function", "gelu_new"},
          {"attn_pdrop", 0.0},
          {"embd_pdrop", model.dropout},
          {"layer_norm_epsilon", model.norm_eps},
          {"n_embd", model.dim},
          {"n_head", model.n_heads},
          {"n_inner", model.ffn_dim == 4 * model.dim ? json() : json(model.ffn_dim)},
          {"n_layer", model.n_layers},
          {"n_positions", model.n_positions},
          {"reorder_and_upcast_attn", false},
          {"resid_pdrop", model.dropout},
          {"scale_attn_by_inverse_layer_idx", false},
          {"scale_attn_weights", true}};
}

}  // namespace

Result<HuggingFaceConfig> parse_hugging_face_config(std::string_view text,
                                                    const std::string& name) {
  const Result<json> file = parse_json_object(text, name);
  if (!file) {
    return fail(file.error());
  }
  Reader reader(*file);
  HuggingFaceConfig config = reader.read();
  if (!reader.problems().empty()) {
    return fail(ErrorCode::kData, concat(name, ": ", join(reader.problems(), "; ")));
  }
  return config;
}

std::string hugging_face_config(const HuggingFaceConfig& config, ElementType type) {
  json out = config.model.name == "gpt2" ? gpt2_json(config) : llama_json(config);
  out["dtype"] = torch_name(type);
  out["torch_dtype"] = torch_name(type);
  out["initializer_range"] = 0.02;
  out["tie_word_embeddings"] = config.model.tie_embeddings;
  out["use_cache"] = true;
  out["vocab_size"] = config.model.vocab_size;
  // A family's defaults may lie outside the vocabulary.
  for (const char* token : {"bos_token_id", "eos_token_id", "pad_token_id"}) {
    out[token] = nullptr;
  }
  return out.dump(2) + "\n";
}

std::vector<std::string> model_differences(const config::Model& found,
                                           const std::string& place,
                                           const config::Model& wanted) {
  std::vector<std::string> lines;
  const auto compare = [&](const char* key, const auto& left, const auto& right) {
    if (left != right) {
      lines.push_back(concat("model.", key, ": ", left, " in ", place, ", ", right, " wanted"));
    }
  };
  compare("name", found.name, wanted.name);
  if (!lines.empty()) {
    return lines;
  }
  compare("dim", found.dim, wanted.dim);
  compare("n_layers", found.n_layers, wanted.n_layers);
  compare("n_heads", found.n_heads, wanted.n_heads);
  compare("ffn_dim", found.ffn_dim, wanted.ffn_dim);
  compare("vocab_size", found.vocab_size, wanted.vocab_size);
  compare("norm_eps", found.norm_eps, wanted.norm_eps);
  compare("tie_embeddings", found.tie_embeddings, wanted.tie_embeddings);
  if (found.name == "gpt2") {
    compare("n_positions", found.n_positions, wanted.n_positions);
  } else {
    compare("n_kv_heads", found.n_kv_heads, wanted.n_kv_heads);
    compare("rope_theta", found.rope_theta, wanted.rope_theta);
  }
  return lines;
}

}  // namespace brigade::checkpoint
