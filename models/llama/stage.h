// SPDX-License-Identifier: Apache-2.0
/// LlamaStage: one pipeline stage's part of the decoder - embedding, blocks, norm, head, loss - as
/// sharded-tensor ops.
///
/// RMSNorm before each half, rotary positions, causal grouped-query attention, SwiGLU, no biases
/// (Touvron et al., 2023). Knows no rank: that a product is column- or row-parallel, that a
/// vocabulary, a batch or a sequence is split, all follows from the types of weights and of the
/// residual stream.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/decoder/residual_stream.h"
#include "models/llama/config.h"
#include "parallel/executor/stage.h"
#include "parallel/tensor/ops/rotary.h"
#include "parallel/zero/parameter_set.h"

namespace brigade::llama {

class LlamaStage final : public executor::Stage {
 public:
  /// Borrows `program` and `parameters` (of stage_facts).
  LlamaStage(const Config& config,
             const decoder::StagePlace& place,
             tensor::Program& program,
             zero::ParameterSet& parameters);

  bool is_first() const override { return stage_ == 0; }
  bool is_last() const override { return stage_ == stages_ - 1; }
  sharding::TensorType input_type(int64_t batch, int64_t sequence) const override;
  const std::vector<std::string>& units() const override { return units_; }
  tensor::ShardedTensor forward(size_t unit,
                                const executor::Microbatch& microbatch,
                                const tensor::ShardedTensor& activation) override;

 private:
  tensor::ShardedTensor embed(const executor::Microbatch& microbatch) const;
  tensor::ShardedTensor block(const tensor::ShardedTensor& x, int64_t layer) const;
  tensor::ShardedTensor attention(const tensor::ShardedTensor& x, const std::string& prefix) const;
  tensor::ShardedTensor feed_forward(const tensor::ShardedTensor& x,
                                     const std::string& prefix) const;
  tensor::ShardedTensor losses(const tensor::ShardedTensor& x,
                               const executor::Microbatch& microbatch) const;
  const tensor::ShardedTensor& weight(const std::string& name) const;

  Config config_;
  int64_t stage_;
  int64_t stages_;
  std::vector<std::string> units_;
  decoder::ResidualStream stream_;
  zero::ParameterSet& parameters_;
  tensor::RotaryTable rotary_;
};

}  // namespace brigade::llama
