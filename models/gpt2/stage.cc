// SPDX-License-Identifier: Apache-2.0
#include "models/gpt2/stage.h"

#include <string>

#include "models/decoder/units.h"
#include "models/gpt2/facts.h"
#include "parallel/base/text.h"
#include "parallel/tensor/casts.h"
#include "parallel/tensor/ops/attention.h"
#include "parallel/tensor/ops/cross_entropy.h"
#include "parallel/tensor/ops/dropout.h"
#include "parallel/tensor/ops/einsum.h"
#include "parallel/tensor/ops/elementwise.h"
#include "parallel/tensor/ops/embedding.h"
#include "parallel/tensor/ops/layer_norm.h"
#include "parallel/tensor/ops/shape.h"
#include "parallel/tensor/ops/unary.h"

namespace brigade::gpt2 {

// Index letters: b batch, s sequence, d model, q query, key or value, h heads times head size, f
// feed-forward, v vocabulary.
using tensor::ShardedTensor;

Gpt2Stage::Gpt2Stage(const Config& config,
                     const decoder::StagePlace& place,
                     tensor::Program& program,
                     zero::ParameterSet& parameters)
    : config_(config),
      stage_(place.stage),
      stages_(place.stages),
      units_(decoder::unit_names(config.n_layers, place.stage, place.stages)),
      stream_(program, place),
      parameters_(parameters) {}

sharding::TensorType Gpt2Stage::input_type(int64_t batch, int64_t sequence) const {
  return stream_.type(batch, sequence, config_.dim);
}

ShardedTensor Gpt2Stage::forward(size_t unit,
                                 const executor::Microbatch& microbatch,
                                 const ShardedTensor& activation) {
  const std::string& name = units_.at(unit);
  if (name == decoder::kEmbeddingUnit) {
    return drop(embed(microbatch), microbatch, kEmbeddingDropout);
  }
  return name == decoder::kHeadUnit ? losses(activation, microbatch)
                                    : block(activation, microbatch, decoder::layer_of(name));
}

ShardedTensor Gpt2Stage::block(const ShardedTensor& x,
                               const executor::Microbatch& microbatch,
                               int64_t layer) const {
  const std::string prefix = block_prefix(layer);
  const ShardedTensor attended =
      x + drop(attention(x, prefix), microbatch, prefix + kAttentionDropout);
  return attended + drop(feed_forward(attended, prefix), microbatch, prefix + kFeedForwardDropout);
}

ShardedTensor Gpt2Stage::drop(const ShardedTensor& x,
                              const executor::Microbatch& microbatch,
                              const std::string& name) const {
  return stream_.drop(x, config_.dropout, microbatch.training, name);
}

ShardedTensor Gpt2Stage::embed(const executor::Microbatch& microbatch) const {
  const ShardedTensor rows =
      tensor::embedding(weight("transformer.wte.weight"), stream_.ids(microbatch.tokens));
  const ShardedTensor words =
      tensor::reshard(rows, stream_.spec(), "embedding: rows of a split vocabulary");
  const ShardedTensor positions =
      tensor::slice(weight("transformer.wpe.weight"), 0, 0, microbatch.tokens.size(1));
  return words + positions;
}

ShardedTensor Gpt2Stage::attention(const ShardedTensor& x, const std::string& prefix) const {
  const ShardedTensor entered =
      stream_.enter(norm(x, prefix + "ln_1"), "attention: one gradient sum for q, k and v");
  const ShardedTensor joined =
      tensor::einsum("bsd,dqh->bsqh", entered, weight(prefix + "attn.c_attn.weight")) +
      weight(prefix + "attn.c_attn.bias");
  const auto third = [&](int64_t index) {
    return tensor::squeeze(tensor::slice(joined, 2, index, index + 1), 2);
  };
  const ShardedTensor heads =
      tensor::causal_attention(third(0), third(1), third(2), config_.head_size());
  return tensor::einsum(
             "bsh,hd->bsd", heads, weight(prefix + "attn.c_proj.weight"), stream_.spec()) +
         weight(prefix + "attn.c_proj.bias");
}

ShardedTensor Gpt2Stage::feed_forward(const ShardedTensor& x, const std::string& prefix) const {
  const ShardedTensor entered =
      stream_.enter(norm(x, prefix + "ln_2"), "feed-forward: gradient sum");
  const ShardedTensor wide =
      tensor::einsum("bsd,df->bsf", entered, weight(prefix + "mlp.c_fc.weight")) +
      weight(prefix + "mlp.c_fc.bias");
  return tensor::einsum("bsf,fd->bsd",
                        tensor::gelu(wide, tensor::GeluForm::kTanh),
                        weight(prefix + "mlp.c_proj.weight"),
                        stream_.spec()) +
         weight(prefix + "mlp.c_proj.bias");
}

ShardedTensor Gpt2Stage::losses(const ShardedTensor& x,
                                const executor::Microbatch& microbatch) const {
  const ShardedTensor entered = stream_.enter(norm(x, "transformer.ln_f"), "head");
  const ShardedTensor logits = tensor::einsum("bsd,vd->bsv", entered, weight("lm_head.weight"));
  return tensor::cross_entropy(logits, stream_.ids(microbatch.targets));
}

ShardedTensor Gpt2Stage::norm(const ShardedTensor& x, const std::string& name) const {
  return tensor::layer_norm(x, weight(name + ".weight"), weight(name + ".bias"), config_.norm_eps);
}

const ShardedTensor& Gpt2Stage::weight(const std::string& name) const {
  return parameters_.weight(name);
}

}  // namespace brigade::gpt2
