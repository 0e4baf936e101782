// SPDX-License-Identifier: Apache-2.0
/// Gpt2Stage: one pipeline stage's part of the decoder - embeddings, blocks, norm, head, loss - as
/// sharded-tensor ops.
///
/// LayerNorm before each half, learned positions, causal attention, GELU in its tanh form, biases
/// everywhere but in the head (Radford et al., 2019). A bias beside a split product is split with
/// it; one behind a product that is summed over tensor ranks is added once, to the sum. Dropout
/// acts on the embedding and on what each half block adds, not on attention's probabilities.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/decoder/residual_stream.h"
#include "models/gpt2/config.h"
#include "parallel/executor/stage.h"
#include "parallel/zero/parameter_set.h"

namespace brigade::gpt2 {

/// Streams of dropout: a name, for the last two behind block_prefix().
inline constexpr const char* kEmbeddingDropout = "transformer.drop";
inline constexpr const char* kAttentionDropout = "attn.resid_dropout";
inline constexpr const char* kFeedForwardDropout = "mlp.dropout";

class Gpt2Stage final : public executor::Stage {
 public:
  /// Borrows `program` and `parameters` (of stage_facts).
  Gpt2Stage(const Config& config,
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
  tensor::ShardedTensor block(const tensor::ShardedTensor& x,
                              const executor::Microbatch& microbatch,
                              int64_t layer) const;
  tensor::ShardedTensor drop(const tensor::ShardedTensor& x,
                             const executor::Microbatch& microbatch,
                             const std::string& name) const;
  tensor::ShardedTensor attention(const tensor::ShardedTensor& x, const std::string& prefix) const;
  tensor::ShardedTensor feed_forward(const tensor::ShardedTensor& x,
                                     const std::string& prefix) const;
  tensor::ShardedTensor losses(const tensor::ShardedTensor& x,
                               const executor::Microbatch& microbatch) const;
  tensor::ShardedTensor norm(const tensor::ShardedTensor& x, const std::string& name) const;
  const tensor::ShardedTensor& weight(const std::string& name) const;

  Config config_;
  int64_t stage_;
  int64_t stages_;
  std::vector<std::string> units_;
  decoder::ResidualStream stream_;
  zero::ParameterSet& parameters_;
};

}  // namespace brigade::gpt2
