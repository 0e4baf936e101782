// SPDX-License-Identifier: Apache-2.0
/// Sizes of a decoder of the GPT-2 family.
#pragma once

#include <cstdint>

#include "parallel/base/result.h"

namespace brigade::gpt2 {

struct Config {
  int64_t dim = 768;
  int64_t n_layers = 12;
  int64_t n_heads = 12;
  int64_t ffn_dim = 3072;
  int64_t vocab_size = 50257;
  int64_t n_positions = 1024;  ///< rows of the position table: the longest sequence
  double norm_eps = 1e-5;
  double dropout = 0.0;  ///< of the embedding and of what each half block adds
  bool tie_embeddings = true;

  int64_t head_size() const { return dim / n_heads; }
  bool operator==(const Config&) const = default;
};

/// Errors: kUsage for sizes below 1, a dropout outside [0, 1), heads that do not divide dim or do
/// not divide over `tensor_ranks` - with the sizes that would.
Result<void> check(const Config& config, int64_t tensor_ranks);

/// Parameters of the model: a tied head counts once.
int64_t parameter_count(const Config& config);

/// Multiplications and additions of a forward and backward per trained token: 6 per matrix weight
/// (both embeddings are look-ups, a head is a matrix, tied or not) and 12 * n_layers * dim *
/// sequence / 2 for causal attention. Recomputation does not count.
double flops_per_token(const Config& config, int64_t sequence);

}  // namespace brigade::gpt2
