// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/flavor.h"

#include <string>

#include "parallel/base/check.h"

namespace brigade::config {
namespace {

Model sized(std::string_view name, int64_t dim, int64_t layers, int64_t heads, int64_t ffn) {
  Model model;
  model.flavor = std::string(name);
  model.dim = dim;
  model.n_layers = layers;
  model.n_heads = heads;
  model.n_kv_heads = heads;
  model.ffn_dim = ffn;
  model.rope_theta = 10000.0;
  return model;
}

Model llama(std::string_view name) {
  if (name == "tiny") {
    return sized(name, 128, 4, 4, 384);
  }
  if (name == "small") {
    return sized(name, 384, 6, 6, 1024);
  }
  if (name == "base") {
    return sized(name, 768, 12, 12, 2048);
  }
  BRIGADE_CHECK(name == "debugmodel", name);
  return Model();  // torchtitan's debugmodel, with bytes for its vocabulary
}

}  // namespace

Model flavor(std::string_view family, std::string_view name) {
  Model model = llama(name);
  if (family == "gpt2") {
    model.name = "gpt2";
    model.ffn_dim = 4 * model.dim;
    model.tie_embeddings = true;
  }
  return model;
}

}  // namespace brigade::config
