// SPDX-License-Identifier: Apache-2.0
#include "models/gpt2/config.h"

#include <array>
#include <utility>

#include "models/decoder/sizes.h"
#include "parallel/base/text.h"

namespace brigade::gpt2 {
namespace {

/// Weights of the products of one block.
int64_t matrices_of_block(const Config& config) {
  return 4 * config.dim * config.dim + 2 * config.dim * config.ffn_dim;
}

}  // namespace

Result<void> check(const Config& config, int64_t tensor_ranks) {
  const std::array<std::pair<const char*, int64_t>, 6> sizes = {
      {{"dim", config.dim},
       {"n_layers", config.n_layers},
       {"n_heads", config.n_heads},
       {"ffn_dim", config.ffn_dim},
       {"vocab_size", config.vocab_size},
       {"n_positions", config.n_positions}}};
  if (Result<void> large = decoder::check_at_least_one(sizes); !large) {
    return large;
  }
  if (!(config.dropout >= 0.0 && config.dropout < 1.0)) {
    return fail(ErrorCode::kUsage,
                concat("model.dropout must be at least 0 and below 1, found ", config.dropout));
  }
  if (Result<void> divide = decoder::check_heads_divide(config.dim, config.n_heads); !divide) {
    return divide;
  }
  return decoder::check_heads_split(config.n_heads, "heads", tensor_ranks, config.n_heads);
}

int64_t parameter_count(const Config& config) {
  const int64_t biases = 5 * config.dim + config.ffn_dim;
  const int64_t norms = 4 * config.dim;
  const int64_t tables = (config.tie_embeddings ? 1 : 2) * config.vocab_size * config.dim +
                         config.n_positions * config.dim;
  return config.n_layers * (matrices_of_block(config) + biases + norms) + tables + 2 * config.dim;
}

double flops_per_token(const Config& config, int64_t sequence) {
  const int64_t matrices =
      config.n_layers * matrices_of_block(config) + config.vocab_size * config.dim;
  return 6.0 * static_cast<double>(matrices) +
         6.0 * static_cast<double>(config.n_layers * config.dim * sequence);
}

}  // namespace brigade::gpt2
