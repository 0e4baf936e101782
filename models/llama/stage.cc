// SPDX-License-Identifier: Apache-2.0
#include "models/llama/stage.h"

#include <string>

#include "models/decoder/units.h"
#include "parallel/base/text.h"
#include "parallel/tensor/casts.h"
#include "parallel/tensor/ops/attention.h"
#include "parallel/tensor/ops/cross_entropy.h"
#include "parallel/tensor/ops/einsum.h"
#include "parallel/tensor/ops/elementwise.h"
#include "parallel/tensor/ops/embedding.h"
#include "parallel/tensor/ops/rms_norm.h"
#include "parallel/tensor/ops/silu_gate.h"

namespace brigade::llama {

// Index letters: b batch, s sequence, d model, h heads times head size (or key-value heads), f
// feed-forward, v vocabulary.
using tensor::ShardedTensor;

LlamaStage::LlamaStage(const Config& config,
                       const decoder::StagePlace& place,
                       tensor::Program& program,
                       zero::ParameterSet& parameters)
    : config_(config),
      stage_(place.stage),
      stages_(place.stages),
      units_(decoder::unit_names(config.n_layers, place.stage, place.stages)),
      stream_(program, place),
      parameters_(parameters),
      rotary_(tensor::rotary_table(place.sequence, config.head_size(), config.rope_theta)) {}

sharding::TensorType LlamaStage::input_type(int64_t batch, int64_t sequence) const {
  return stream_.type(batch, sequence, config_.dim);
}

ShardedTensor LlamaStage::forward(size_t unit,
                                  const executor::Microbatch& microbatch,
                                  const ShardedTensor& activation) {
  const std::string& name = units_.at(unit);
  if (name == decoder::kEmbeddingUnit) {
    return embed(microbatch);
  }
  return name == decoder::kHeadUnit ? losses(activation, microbatch)
                                    : block(activation, decoder::layer_of(name));
}

ShardedTensor LlamaStage::block(const ShardedTensor& x, int64_t layer) const {
  const std::string prefix = concat("model.layers.", layer, ".");
  const ShardedTensor attended = tensor::add(x, attention(x, prefix));
  return tensor::add(attended, feed_forward(attended, prefix));
}

ShardedTensor LlamaStage::embed(const executor::Microbatch& microbatch) const {
  const ShardedTensor rows =
      tensor::embedding(weight("model.embed_tokens.weight"), stream_.ids(microbatch.tokens));
  return tensor::reshard(rows, stream_.spec(), "embedding: rows of a split vocabulary");
}

ShardedTensor LlamaStage::attention(const ShardedTensor& x, const std::string& prefix) const {
  const ShardedTensor normed =
      tensor::rms_norm(x, weight(prefix + "input_layernorm.weight"), config_.norm_eps);
  const ShardedTensor entered = stream_.enter(normed, "attention: one gradient sum for q, k and v");
  const auto project = [&](const char* name) {
    return tensor::einsum("bsd,hd->bsh", entered, weight(prefix + name));
  };
  const int64_t head = config_.head_size();
  const ShardedTensor q = tensor::rotary(project("self_attn.q_proj.weight"), rotary_, head);
  const ShardedTensor k = tensor::rotary(project("self_attn.k_proj.weight"), rotary_, head);
  const ShardedTensor heads =
      tensor::causal_attention(q, k, project("self_attn.v_proj.weight"), head);
  return tensor::einsum(
      "bsh,dh->bsd", heads, weight(prefix + "self_attn.o_proj.weight"), stream_.spec());
}

ShardedTensor LlamaStage::feed_forward(const ShardedTensor& x, const std::string& prefix) const {
  const ShardedTensor normed =
      tensor::rms_norm(x, weight(prefix + "post_attention_layernorm.weight"), config_.norm_eps);
  const ShardedTensor entered =
      stream_.enter(normed, "feed-forward: one gradient sum for gate and up");
  const ShardedTensor gate =
      tensor::einsum("bsd,fd->bsf", entered, weight(prefix + "mlp.gate_proj.weight"));
  const ShardedTensor up =
      tensor::einsum("bsd,fd->bsf", entered, weight(prefix + "mlp.up_proj.weight"));
  return tensor::einsum("bsf,df->bsd",
                        tensor::silu_gate(gate, up),
                        weight(prefix + "mlp.down_proj.weight"),
                        stream_.spec());
}

ShardedTensor LlamaStage::losses(const ShardedTensor& x,
                                 const executor::Microbatch& microbatch) const {
  const ShardedTensor normed = tensor::rms_norm(x, weight("model.norm.weight"), config_.norm_eps);
  const ShardedTensor entered = stream_.enter(normed, "head");
  const ShardedTensor logits = tensor::einsum("bsd,vd->bsv", entered, weight("lm_head.weight"));
  return tensor::cross_entropy(logits, stream_.ids(microbatch.targets));
}

const ShardedTensor& LlamaStage::weight(const std::string& name) const {
  return parameters_.weight(name);
}

}  // namespace brigade::llama
