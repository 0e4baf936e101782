// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/model_shape.h"

#include <array>
#include <string>

#include "models/decoder/placement_rules.h"
#include "models/decoder/units.h"
#include "models/gpt2/model.h"
#include "models/llama/model.h"
#include "parallel/base/check.h"
#include "parallel/base/dtype.h"
#include "trainer/loop/memory_plan.h"

namespace brigade::loop {
namespace {

const std::array<std::string, 3> kStageAxes = {"dp_replicate", "dp_shard", "tp"};

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

/// As the mixed_precision keys spell it.
DType dtype_named(const std::string& name) {
  return name == "bfloat16" ? DType::kBFloat16 : DType::kFloat32;
}

}  // namespace

int64_t states_per_element(const config::RunConfig& config) {
  return config.optimizer.name == "AdamW" ? 2 : 0;
}

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

DType compute_dtype(const config::RunConfig& config) {
  return dtype_named(config.training.mixed_precision_param);
}

zero::Options zero_options(const config::RunConfig& config, const config::RunFacts& facts) {
  return {.stage = static_cast<int>(facts.zero_stage),
          .rules = decoder::tensor_parallel_rules(),
          .parts = config.parallelism.sequence_parallel ? decoder::sequence_parallel_rules()
                                                        : zero::AxisRules(),
          .data = {.replicate = {"dp_replicate"}, .shard = {"dp_shard"}},
          .accumulation = config.debug.deterministic ? zero::GradientSum::Order::kTree
                                                     : zero::GradientSum::Order::kRunning,
          .dtype = compute_dtype(config),
          .wire = dtype_named(config.training.mixed_precision_reduce),
          .replicate_below = config.parallelism.fsdp_replicate_below,
          .missing = config.training.missing_gradients == "error" ? zero::MissingGradient::kError
                                                                  : zero::MissingGradient::kZeros};
}

schedule::UnitPlan unit_plan(const config::RunConfig& config, const config::RunFacts& facts) {
  const bool gathers = facts.zero_stage == 3 && facts.dp_shard > 1;
  const bool keeps = config.parallelism.fsdp_reshard_after_forward == "never";
  schedule::UnitPlan plan{.units_of_stage = {},
                          .weights = !gathers ? schedule::Weights::kResident
                                     : keeps  ? schedule::Weights::kWholeStep
                                              : schedule::Weights::kEachUse,
                          .prefetch = config.parallelism.fsdp_prefetch,
                          .reduce = facts.reduces_each_microbatch ? schedule::Reduce::kMicrobatch
                                                                  : schedule::Reduce::kStep};
  const int64_t layers = model_of(config)->layers();
  for (int64_t stage = 0; stage < facts.pp; ++stage) {
    plan.units_of_stage.push_back(std::ssize(decoder::unit_names(layers, stage, facts.pp)));
  }
  return plan;
}

namespace {

Result<schedule::Schedule> stages_schedule(const config::RunConfig& config,
                                           const config::RunFacts& facts) {
  Result<schedule::Kind> kind =
      facts.pp > 1 ? schedule::parse_kind(config.parallelism.pipeline_parallel_schedule)
                   : Result<schedule::Kind>(schedule::Kind::kOneForwardOneBackward);
  if (!kind) {
    return fail(kind.error());
  }
  return schedule::generate({.kind = *kind, .ranks = facts.pp, .microbatches = facts.microbatches});
}

}  // namespace

Result<schedule::Schedule> training_schedule(const config::RunConfig& config,
                                             const config::RunFacts& facts) {
  const Result<schedule::Schedule> stages = stages_schedule(config, facts);
  if (!stages) {
    return fail(stages.error());
  }
  const schedule::UnitPlan plan = unit_plan(config, facts);
  schedule::Schedule units = schedule::lower_units(*stages, plan);
  if (Result<void> valid = schedule::validate_units(units, plan); !valid) {
    return fail(valid.error());
  }
  return units;
}

Result<schedule::Schedule> evaluation_schedule(const config::RunConfig& config,
                                               const config::RunFacts& facts) {
  return stages_schedule(config, facts).map([&](const schedule::Schedule& stages) {
    return schedule::lower_units(schedule::forwards_of(stages), unit_plan(config, facts));
  });
}

std::vector<executor::Keep> kept_by_units(const config::RunConfig& config,
                                          const config::RunFacts& facts,
                                          int64_t stage) {
  const bool keeps_products = config.activation_checkpoint.mode == "selective" &&
                              config.activation_checkpoint.selective_ac_option == "op";
  std::vector<executor::Keep> kept;
  for (const std::string& unit : decoder::unit_names(model_of(config)->layers(), stage, facts.pp)) {
    const bool is_block = unit != decoder::kEmbeddingUnit && unit != decoder::kHeadUnit;
    const bool is_nth = is_block && facts.recompute_every > 0 &&
                        (decoder::layer_of(unit) + 1) % facts.recompute_every == 0;
    kept.push_back(is_nth                       ? executor::Keep::kInput
                   : is_block && keeps_products ? executor::Keep::kProducts
                                                : executor::Keep::kAll);
  }
  return kept;
}

Result<RankBytes> rank_bytes(const config::RunConfig& config,
                             const config::RunFacts& facts,
                             int64_t world_rank) {
  const mesh::Mesh world_mesh = value_or_throw(mesh::Mesh::create(facts.axes));
  const mesh::Mesh mesh = stage_mesh(world_mesh);
  const Seat seat = seat_of(world_mesh, world_rank);
  const zero::Options options = zero_options(config, facts);
  const Result<std::vector<UnitElements>> units =
      unit_elements(mesh, seat.stage_rank, parameters_of(config, seat.stage, facts.pp), options);
  if (!units) {
    return fail(units.error());
  }
  const tensor::CategoryBytes bytes =
      plan_states(*units, {.zero = options, .states_per_element = states_per_element(config)});
  return RankBytes{.parameters = sum_of(*units, &UnitElements::stored),
                   .weights = bytes[tensor::Category::kParameters],
                   .gradients = sum_of(*units, &UnitElements::reduced) * size_of(DType::kFloat32),
                   .optimizer_states = bytes[tensor::Category::kOptimizerStates]};
}

}  // namespace brigade::loop
