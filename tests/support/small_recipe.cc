// SPDX-License-Identifier: Apache-2.0
#include "tests/support/small_recipe.h"

#include "trainer/config/load.h"

namespace brigade::testing {

const char* const kSmallRecipe = R"(
[model]
dim = 32
n_layers = 4
n_heads = 4
n_kv_heads = 4
ffn_dim = 64
vocab_size = 96
rope_theta = 10000.0
norm_eps = 1e-5
[optimizer]
name = "SGD"
lr = 0.1
weight_decay = 0.0
[lr_scheduler]
warmup_steps = 0
decay_ratio = 0.0
[training]
dataset = "synthetic"
seq_len = 16
global_batch_size = 12
local_batch_size = 1
microbatch_size = 1
max_norm = 0.0
steps = 1000
[parallelism]
data_parallel_shard_degree = 1
[debug]
seed = 7
)";

config::RunConfig small_recipe(const std::vector<std::string>& settings) {
  return value_or_throw(config::load_text(kSmallRecipe, "small recipe", settings));
}

}  // namespace brigade::testing
