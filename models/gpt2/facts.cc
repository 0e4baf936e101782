// SPDX-License-Identifier: Apache-2.0
#include "models/gpt2/facts.h"

#include <cmath>
#include <utility>

#include "models/decoder/units.h"
#include "parallel/base/text.h"

namespace brigade::gpt2 {
namespace {

using sharding::Initializer;
using sharding::ParameterFacts;
using sharding::Shape;

using LogicalAxes = std::vector<std::string>;

constexpr double kDeviation = 0.02;

/// Appends the parameters of one unit.
class Unit {
 public:
  Unit(std::string name, std::vector<ParameterFacts>& facts)
      : name_(std::move(name)), facts_(facts) {}

  void matrix(std::string name, Shape shape, LogicalAxes axes, double deviation = kDeviation) {
    add(std::move(name),
        std::move(shape),
        std::move(axes),
        {Initializer::Kind::kNormal, deviation},
        /*decayed=*/true);
  }

  void bias(std::string name, Shape shape, LogicalAxes axes) {
    add(std::move(name),
        std::move(shape),
        std::move(axes),
        {Initializer::Kind::kZeros, 0.0},
        /*decayed=*/false);
  }

  void norm(const std::string& name, int64_t dim) {
    add(name + ".weight", {dim}, {"norm"}, {Initializer::Kind::kOnes, 0.0}, /*decayed=*/false);
    bias(name + ".bias", {dim}, {"norm"});
  }

 private:
  void add(std::string name,
           Shape shape,
           LogicalAxes axes,
           const Initializer& initializer,
           bool decayed) {
    facts_.push_back(
        {std::move(name), std::move(shape), std::move(axes), initializer, decayed, "", name_});
  }

  std::string name_;
  std::vector<ParameterFacts>& facts_;
};

void append_block(const Config& config, int64_t layer, std::vector<ParameterFacts>& facts) {
  const std::string prefix = block_prefix(layer);
  const int64_t dim = config.dim;
  const int64_t ffn = config.ffn_dim;
  // Outputs that add to the residual stream start smaller with depth (Radford et al., 2019).
  const double residual = kDeviation / std::sqrt(2.0 * static_cast<double>(config.n_layers));
  Unit block(decoder::block_unit(layer), facts);
  block.norm(prefix + "ln_1", dim);
  block.matrix(prefix + "attn.c_attn.weight", {dim, 3, dim}, {"embed", "qkv", "heads"});
  block.bias(prefix + "attn.c_attn.bias", {3, dim}, {"qkv", "heads"});
  block.matrix(prefix + "attn.c_proj.weight", {dim, dim}, {"heads", "embed"}, residual);
  block.bias(prefix + "attn.c_proj.bias", {dim}, {"norm"});
  block.norm(prefix + "ln_2", dim);
  block.matrix(prefix + "mlp.c_fc.weight", {dim, ffn}, {"embed", "mlp"});
  block.bias(prefix + "mlp.c_fc.bias", {ffn}, {"mlp"});
  block.matrix(prefix + "mlp.c_proj.weight", {ffn, dim}, {"mlp", "embed"}, residual);
  block.bias(prefix + "mlp.c_proj.bias", {dim}, {"norm"});
}

}  // namespace

std::string block_prefix(int64_t layer) {
  return concat("transformer.h.", layer, ".");
}

std::vector<ParameterFacts> stage_facts(const Config& config, int64_t stage, int64_t stages) {
  const Shape table = {config.vocab_size, config.dim};
  std::vector<ParameterFacts> facts;
  if (stage == 0) {
    Unit embedding(std::string(decoder::kEmbeddingUnit), facts);
    embedding.matrix("transformer.wte.weight", table, {"vocab", "embed"});
    embedding.matrix(
        "transformer.wpe.weight", {config.n_positions, config.dim}, {"positions", "embed"});
  }
  const sharding::Interval layers = decoder::stage_layers(config.n_layers, stage, stages);
  for (int64_t layer = layers.begin; layer < layers.end; ++layer) {
    append_block(config, layer, facts);
  }
  if (stage == stages - 1) {
    Unit head(std::string(decoder::kHeadUnit), facts);
    head.norm("transformer.ln_f", config.dim);
    head.matrix("lm_head.weight", table, {"vocab", "embed"});
    facts.back().tied_to = config.tie_embeddings ? "transformer.wte.weight" : "";
  }
  return facts;
}

}  // namespace brigade::gpt2
