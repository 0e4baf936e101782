// SPDX-License-Identifier: Apache-2.0
#include "models/llama/model.h"

#include "models/llama/activation_bytes.h"
#include "models/llama/facts.h"
#include "models/llama/stage.h"
#include "parallel/base/text.h"

namespace brigade::llama {

Result<void> LlamaModel::check(int64_t tensor_ranks) const {
  return llama::check(config_, tensor_ranks);
}

std::string LlamaModel::description() const {
  return concat("dim ",
                config_.dim,
                ", ",
                config_.n_layers,
                " layers, ",
                config_.n_heads,
                " heads (",
                config_.n_kv_heads,
                " key-value), ffn ",
                config_.ffn_dim,
                ", vocabulary ",
                config_.vocab_size,
                config_.tie_embeddings ? ", tied head" : "");
}

int64_t LlamaModel::parameter_count() const {
  return llama::parameter_count(config_);
}

double LlamaModel::flops_per_token(int64_t sequence) const {
  return llama::flops_per_token(config_, sequence);
}

decoder::ModelActivations LlamaModel::activations(const decoder::ActivationShape& shape) const {
  return activation_bytes(config_, shape);
}

std::vector<sharding::ParameterFacts> LlamaModel::stage_facts(int64_t stage, int64_t stages) const {
  return llama::stage_facts(config_, stage, stages);
}

std::unique_ptr<executor::Stage> LlamaModel::make_stage(const decoder::StagePlace& place,
                                                        tensor::Program& program,
                                                        zero::ParameterSet& parameters) const {
  return std::make_unique<LlamaStage>(config_, place, program, parameters);
}

}  // namespace brigade::llama
