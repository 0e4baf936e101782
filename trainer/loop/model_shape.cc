// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/model_shape.h"

#include <array>
#include <string>

#include "models/decoder/placement_rules.h"
#include "models/gpt2/model.h"
#include "models/llama/model.h"
#include "parallel/base/check.h"
#include "parallel/base/dtype.h"

namespace brigade::loop {
namespace {

const std::array<std::string, 3> kStageAxes = {"dp_replicate", "dp_shard", "tp"};

int64_t states_per_element(const config::RunConfig& config) {
  return config.optimizer.name == "AdamW" ? 2 : 0;
}

llama::Config llama_of(const config::Model& model) {
  return {.dim = model.dim,
          .n_layers = model.n_layers,
          .n_heads = model.n_heads,
          .n_kv_heads = model.n_kv_heads,
          .ffn_dim = model.ffn_dim,
          .vocab_size = model.vocab_size,
          .rope_theta = model.rope_theta,
          .norm_eps = model.norm_eps,
          .tie_embeddings = model.tie_embeddings};
}

gpt2::Config gpt2_of(const config::Model& model) {
  return {.dim = model.dim,
          .n_layers = model.n_layers,
          .n_heads = model.n_heads,
          .ffn_dim = model.ffn_dim,
          .vocab_size = model.vocab_size,
          .n_positions = model.n_positions,
          .norm_eps = model.norm_eps,
          .dropout = model.dropout,
          .tie_embeddings = model.tie_embeddings};
}

}  // namespace

std::unique_ptr<const decoder::Model> model_of(const config::RunConfig& config) {
  if (config.model.name == "gpt2") {
    return std::make_unique<gpt2::Gpt2Model>(gpt2_of(config.model));
  }
  BRIGADE_CHECK(config.model.name == "llama3", config.model.name);
  return std::make_unique<llama::LlamaModel>(llama_of(config.model));
}

mesh::Mesh stage_mesh(const mesh::Mesh& world_mesh) {
  return world_mesh.sub_mesh(kStageAxes);
}

Seat seat_of(const mesh::Mesh& world_mesh, int64_t world_rank) {
  const int64_t ranks = stage_mesh(world_mesh).size();
  return {world_rank / ranks, world_rank % ranks};
}

std::vector<sharding::ParameterFacts> parameters_of(const config::RunConfig& config,
                                                    int64_t stage,
                                                    int64_t stages) {
  std::vector<sharding::ParameterFacts> facts = model_of(config)->stage_facts(stage, stages);
  for (sharding::ParameterFacts& parameter : facts) {
    parameter.decayed = parameter.decayed || config.optimizer.decay == "all";
  }
  return facts;
}

zero::Options zero_options(const config::RunConfig& config, const config::RunFacts& facts) {
  return {.stage = static_cast<int>(facts.zero_stage),
          .rules = decoder::tensor_parallel_rules(),
          .parts = config.parallelism.sequence_parallel ? decoder::sequence_parallel_rules()
                                                        : zero::AxisRules(),
          .data = {.replicate = {"dp_replicate"}, .shard = {"dp_shard"}},
          .accumulation = config.debug.deterministic ? zero::GradientSum::Order::kTree
                                                     : zero::GradientSum::Order::kRunning};
}

Result<RankBytes> rank_bytes(const config::RunConfig& config,
                             const config::RunFacts& facts,
                             int64_t world_rank) {
  const mesh::Mesh world_mesh = value_or_throw(mesh::Mesh::create(facts.axes));
  const mesh::Mesh mesh = stage_mesh(world_mesh);
  const Seat seat = seat_of(world_mesh, world_rank);
  const zero::Options options = zero_options(config, facts);
  const int64_t element = size_of(DType::kFloat32);
  RankBytes bytes;
  for (const sharding::ParameterFacts& parameter : parameters_of(config, seat.stage, facts.pp)) {
    const Result<zero::Placement> placement =
        zero::place(mesh, parameter, options.rules, options.data, options.parts);
    if (!placement) {
      return fail(placement.error());
    }
    const int64_t used = placement->used.box(parameter.shape, seat.stage_rank).element_count();
    const int64_t shard = placement->shard.box(parameter.shape, seat.stage_rank).element_count();
    const bool shares_owner = !parameter.tied_to.empty() && facts.pp == 1;
    bytes.gradients += used * element;  // one per use
    if (!shares_owner) {
      bytes.parameters += used;
      bytes.weights += used * element;
    }
    if (parameter.tied_to.empty()) {
      bytes.optimizer_states +=
          (options.stage >= 1 ? shard : used) * states_per_element(config) * element;
    }
  }
  return bytes;
}

}  // namespace brigade::loop
