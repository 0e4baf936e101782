// SPDX-License-Identifier: Apache-2.0
#include "models/gpt2/model.h"

#include "models/gpt2/activation_bytes.h"
#include "models/gpt2/facts.h"
#include "models/gpt2/stage.h"
#include "parallel/base/text.h"

namespace brigade::gpt2 {

Result<void> Gpt2Model::check(int64_t tensor_ranks) const {
  return gpt2::check(config_, tensor_ranks);
}

std::string Gpt2Model::description() const {
  return concat("dim ",
                config_.dim,
                ", ",
                config_.n_layers,
                " layers, ",
                config_.n_heads,
                " heads, ffn ",
                config_.ffn_dim,
                ", vocabulary ",
                config_.vocab_size,
                ", ",
                config_.n_positions,
                " positions",
                config_.tie_embeddings ? ", tied head" : "",
                config_.dropout > 0.0 ? concat(", dropout ", config_.dropout) : "");
}

int64_t Gpt2Model::parameter_count() const {
  return gpt2::parameter_count(config_);
}

double Gpt2Model::flops_per_token(int64_t sequence) const {
  return gpt2::flops_per_token(config_, sequence);
}

decoder::ModelActivations Gpt2Model::activations(const decoder::ActivationShape& shape) const {
  return activation_bytes(config_, shape);
}

std::vector<sharding::ParameterFacts> Gpt2Model::stage_facts(int64_t stage, int64_t stages) const {
  return gpt2::stage_facts(config_, stage, stages);
}

std::vector<std::string> Gpt2Model::dropout_names() const {
  if (config_.dropout == 0.0) {
    return {};
  }
  std::vector<std::string> names = {kEmbeddingDropout};
  for (int64_t layer = 0; layer < config_.n_layers; ++layer) {
    for (const char* half : {kAttentionDropout, kFeedForwardDropout}) {
      names.push_back(block_prefix(layer) + half);
    }
  }
  return names;
}

std::unique_ptr<executor::Stage> Gpt2Model::make_stage(const decoder::StagePlace& place,
                                                       tensor::Program& program,
                                                       zero::ParameterSet& parameters) const {
  return std::make_unique<Gpt2Stage>(config_, place, program, parameters);
}

}  // namespace brigade::gpt2
