// SPDX-License-Identifier: Apache-2.0
#include "models/llama/facts.h"

#include <cmath>
#include <string>
#include <utility>

#include "models/decoder/units.h"
#include "parallel/base/text.h"

namespace brigade::llama {
namespace {

using sharding::Initializer;
using sharding::ParameterFacts;
using sharding::Shape;

constexpr double kDeviation = 0.02;

Initializer normal(double deviation) {
  return {Initializer::Kind::kNormal, deviation};
}

ParameterFacts matrix(std::string name,
                      Shape shape,
                      std::vector<std::string> axes,
                      double deviation,
                      std::string unit) {
  return {std::move(name),
          std::move(shape),
          std::move(axes),
          normal(deviation),
          true,
          "",
          std::move(unit)};
}

ParameterFacts gain(std::string name, int64_t dim, std::string unit) {
  return {std::move(name),
          {dim},
          {"norm"},
          {Initializer::Kind::kOnes, 0.0},
          false,
          "",
          std::move(unit)};
}

void append_block(const Config& config, int64_t layer, std::vector<ParameterFacts>& facts) {
  const std::string prefix = concat("model.layers.", layer, ".");
  const std::string unit = decoder::block_unit(layer);
  const int64_t kv_dim = config.n_kv_heads * config.head_size();
  // Outputs that add to the residual stream start smaller with depth (Radford et al., 2019).
  const double residual = kDeviation / std::sqrt(2.0 * static_cast<double>(config.n_layers));
  facts.push_back(gain(prefix + "input_layernorm.weight", config.dim, unit));
  facts.push_back(matrix(prefix + "self_attn.q_proj.weight",
                         {config.dim, config.dim},
                         {"heads", "embed"},
                         kDeviation,
                         unit));
  facts.push_back(matrix(prefix + "self_attn.k_proj.weight",
                         {kv_dim, config.dim},
                         {"kv_heads", "embed"},
                         kDeviation,
                         unit));
  facts.push_back(matrix(prefix + "self_attn.v_proj.weight",
                         {kv_dim, config.dim},
                         {"kv_heads", "embed"},
                         kDeviation,
                         unit));
  facts.push_back(matrix(prefix + "self_attn.o_proj.weight",
                         {config.dim, config.dim},
                         {"embed", "heads"},
                         residual,
                         unit));
  facts.push_back(gain(prefix + "post_attention_layernorm.weight", config.dim, unit));
  facts.push_back(matrix(prefix + "mlp.gate_proj.weight",
                         {config.ffn_dim, config.dim},
                         {"mlp", "embed"},
                         kDeviation,
                         unit));
  facts.push_back(matrix(prefix + "mlp.up_proj.weight",
                         {config.ffn_dim, config.dim},
                         {"mlp", "embed"},
                         kDeviation,
                         unit));
  facts.push_back(matrix(prefix + "mlp.down_proj.weight",
                         {config.dim, config.ffn_dim},
                         {"embed", "mlp"},
                         residual,
                         unit));
}

}  // namespace

std::vector<ParameterFacts> stage_facts(const Config& config, int64_t stage, int64_t stages) {
  const Shape table = {config.vocab_size, config.dim};
  std::vector<ParameterFacts> facts;
  if (stage == 0) {
    facts.push_back(matrix("model.embed_tokens.weight",
                           table,
                           {"vocab", "embed"},
                           kDeviation,
                           std::string(decoder::kEmbeddingUnit)));
  }
  const sharding::Interval layers = decoder::stage_layers(config.n_layers, stage, stages);
  for (int64_t layer = layers.begin; layer < layers.end; ++layer) {
    append_block(config, layer, facts);
  }
  if (stage == stages - 1) {
    facts.push_back(gain("model.norm.weight", config.dim, std::string(decoder::kHeadUnit)));
    facts.push_back(matrix(
        "lm_head.weight", table, {"vocab", "embed"}, kDeviation, std::string(decoder::kHeadUnit)));
    facts.back().tied_to = config.tie_embeddings ? "model.embed_tokens.weight" : "";
  }
  return facts;
}

}  // namespace brigade::llama
