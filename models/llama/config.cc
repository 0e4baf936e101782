// SPDX-License-Identifier: Apache-2.0
#include "models/llama/config.h"

#include <array>
#include <utility>

#include "models/decoder/sizes.h"
#include "parallel/base/text.h"

namespace brigade::llama {
namespace {

Result<void> check_sizes(const Config& config) {
  const std::array<std::pair<const char*, int64_t>, 6> sizes = {
      {{"dim", config.dim},
       {"n_layers", config.n_layers},
       {"n_heads", config.n_heads},
       {"n_kv_heads", config.n_kv_heads},
       {"ffn_dim", config.ffn_dim},
       {"vocab_size", config.vocab_size}}};
  return decoder::check_at_least_one(sizes);
}

Result<void> check_heads(const Config& config) {
  if (Result<void> divide = decoder::check_heads_divide(config.dim, config.n_heads); !divide) {
    return divide;
  }
  if (config.head_size() % 2 != 0) {
    return fail(ErrorCode::kUsage,
                concat("rotary positions need an even head size; model.dim / model.n_heads = ",
                       config.dim,
                       " / ",
                       config.n_heads,
                       " = ",
                       config.head_size()));
  }
  if (config.n_heads % config.n_kv_heads != 0) {
    return fail(ErrorCode::kUsage,
                concat("model.n_heads = ",
                       config.n_heads,
                       " is no multiple of model.n_kv_heads = ",
                       config.n_kv_heads,
                       "; n_kv_heads may be ",
                       decoder::divisors(config.n_heads)));
  }
  return {};
}

}  // namespace

Result<void> check(const Config& config, int64_t tensor_ranks) {
  if (Result<void> sizes = check_sizes(config); !sizes) {
    return sizes;
  }
  if (Result<void> heads = check_heads(config); !heads) {
    return heads;
  }
  const int64_t allowed = config.n_kv_heads;
  Result<void> split =
      decoder::check_heads_split(config.n_heads, "query heads", tensor_ranks, allowed);
  return split ? decoder::check_heads_split(
                     config.n_kv_heads, "key-value heads", tensor_ranks, allowed)
               : split;
}

int64_t parameter_count(const Config& config) {
  const int64_t kv_dim = config.n_kv_heads * config.head_size();
  const int64_t block = 2 * config.dim * config.dim + 2 * config.dim * kv_dim +
                        3 * config.dim * config.ffn_dim + 2 * config.dim;
  const int64_t tables = (config.tie_embeddings ? 1 : 2) * config.vocab_size * config.dim;
  return config.n_layers * block + tables + config.dim;
}

double flops_per_token(const Config& config, int64_t sequence) {
  const int64_t kv_dim = config.n_kv_heads * config.head_size();
  const int64_t block =
      2 * config.dim * config.dim + 2 * config.dim * kv_dim + 3 * config.dim * config.ffn_dim;
  const int64_t matrices = config.n_layers * block + config.vocab_size * config.dim;
  return 6.0 * static_cast<double>(matrices) +
         6.0 * static_cast<double>(config.n_layers * config.dim * sequence);
}

}  // namespace brigade::llama
