// SPDX-License-Identifier: Apache-2.0
/// Sizes of a decoder of the Llama family.
#pragma once

#include <cstdint>

#include "parallel/base/result.h"

namespace brigade::llama {

struct Config {
  int64_t dim = 256;
  int64_t n_layers = 6;
  int64_t n_heads = 16;
  int64_t n_kv_heads = 16;
  int64_t ffn_dim = 768;
  int64_t vocab_size = 256;
  double rope_theta = 10000.0;
  double norm_eps = 1e-5;
  bool tie_embeddings = false;

  int64_t head_size() const { return dim / n_heads; }
  bool operator==(const Config&) const = default;
};

/// Errors: kUsage for sizes below 1, heads that do not divide dim, an odd head size, query heads
/// that are no multiple of the key-value heads, or heads that do not divide over `tensor_ranks` -
/// with the sizes that would.
Result<void> check(const Config& config, int64_t tensor_ranks);

/// Parameters of the model: a tied head counts once.
int64_t parameter_count(const Config& config);

/// Multiplications and additions of a forward and backward per trained token: 6 per matrix weight
/// (the embedding is a look-up, a head is a matrix, tied or not) and 12 * n_layers * dim * sequence
/// / 2 for causal attention. Recomputation does not count.
double flops_per_token(const Config& config, int64_t sequence);

}  // namespace brigade::llama
