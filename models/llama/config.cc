// SPDX-License-Identifier: Apache-2.0
#include "models/llama/config.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "parallel/base/text.h"

namespace brigade::llama {
namespace {

/// "1, 2, 4": the divisors of `value`.
std::string divisors(int64_t value) {
  std::vector<int64_t> found;
  for (int64_t candidate = 1; candidate <= value; ++candidate) {
    if (value % candidate == 0) {
      found.push_back(candidate);
    }
  }
  return join(found);
}

Result<void> check_sizes(const Config& config) {
  const std::array<std::pair<const char*, int64_t>, 6> sizes = {
      {{"dim", config.dim},
       {"n_layers", config.n_layers},
       {"n_heads", config.n_heads},
       {"n_kv_heads", config.n_kv_heads},
       {"ffn_dim", config.ffn_dim},
       {"vocab_size", config.vocab_size}}};
  for (const auto& [name, size] : sizes) {
    if (size < 1) {
      return fail(ErrorCode::kUsage, concat("model.", name, " must be at least 1, found ", size));
    }
  }
  return {};
}

Result<void> check_heads(const Config& config) {
  if (config.dim % config.n_heads != 0) {
    return fail(ErrorCode::kUsage,
                concat("model.dim = ",
                       config.dim,
                       " does not divide into model.n_heads = ",
                       config.n_heads,
                       "; n_heads may be ",
                       divisors(config.dim)));
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
                       divisors(config.n_heads)));
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
  if (config.n_heads % tensor_ranks != 0) {
    return fail(ErrorCode::kUsage,
                concat(config.n_heads,
                       " query heads cannot be split over tp=",
                       tensor_ranks,
                       "; tp may be ",
                       divisors(config.n_kv_heads)));
  }
  if (config.n_kv_heads % tensor_ranks != 0) {
    return fail(ErrorCode::kUsage,
                concat(config.n_kv_heads,
                       " key-value heads cannot be split over tp=",
                       tensor_ranks,
                       "; tp may be ",
                       divisors(config.n_kv_heads)));
  }
  return {};
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
