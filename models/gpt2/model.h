// SPDX-License-Identifier: Apache-2.0
/// Gpt2Model: the GPT-2 family as a trainer sees it.
#pragma once

#include "models/decoder/model.h"
#include "models/gpt2/config.h"

namespace brigade::gpt2 {

class Gpt2Model final : public decoder::Model {
 public:
  explicit Gpt2Model(const Config& config) : config_(config) {}

  Result<void> check(int64_t tensor_ranks) const override;
  std::string description() const override;
  int64_t layers() const override { return config_.n_layers; }
  int64_t parameter_count() const override;
  double flops_per_token(int64_t sequence) const override;
  decoder::ModelActivations activations(const decoder::ActivationShape& shape) const override;
  std::vector<sharding::ParameterFacts> stage_facts(int64_t stage, int64_t stages) const override;
  std::vector<std::string> dropout_names() const override;
  std::unique_ptr<executor::Stage> make_stage(const decoder::StagePlace& place,
                                              tensor::Program& program,
                                              zero::ParameterSet& parameters) const override;

 private:
  Config config_;
};

}  // namespace brigade::gpt2
