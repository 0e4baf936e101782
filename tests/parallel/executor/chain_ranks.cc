// SPDX-License-Identifier: Apache-2.0
#include "tests/parallel/executor/chain_ranks.h"

#include <cmath>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>

#include "parallel/base/text.h"
#include "tests/support/rank_threads.h"

namespace brigade::executor {
namespace {

using sharding::ParameterFacts;
using sharding::PartitionSpec;

constexpr uint64_t kSeed = 11;

std::string layer_name(int64_t layer) {
  return concat("layer.", layer, ".weight");
}

int64_t layer_of(const std::string& unit) {
  return std::stoll(unit.substr(std::string("block.").size()));
}

std::vector<std::string> units_of(int64_t stage, const ChainSetup& setup) {
  std::vector<std::string> units;
  if (stage == 0) {
    units.emplace_back("embedding");
  }
  const int64_t each = kLayers / setup.stages;
  for (int64_t i = stage * each; i < (stage + 1) * each; ++i) {
    units.push_back(concat("block.", i));
  }
  if (stage == setup.stages - 1) {
    units.emplace_back("head");
  }
  return units;
}

schedule::UnitPlan plan_of(const ChainSetup& setup) {
  schedule::UnitPlan plan = setup.plan;
  for (int64_t stage = 0; stage < setup.stages; ++stage) {
    plan.units_of_stage.push_back(std::ssize(units_of(stage, setup)));
  }
  return plan;
}

ParameterFacts facts_of(std::string name, sharding::Shape shape, std::string unit) {
  return {std::move(name),
          std::move(shape),
          {"rows", "columns"},
          {sharding::Initializer::Kind::kNormal, 0.4},
          true,
          "",
          std::move(unit)};
}

std::vector<ParameterFacts> facts_of_stage(int64_t stage, const ChainSetup& setup) {
  std::vector<ParameterFacts> facts;
  if (stage == 0) {
    facts.push_back(facts_of("embed.weight", {kVocabulary, kWidth}, "embedding"));
  }
  const int64_t each = kLayers / setup.stages;
  for (int64_t layer = stage * each; layer < (stage + 1) * each; ++layer) {
    facts.push_back(facts_of(layer_name(layer), {kWidth, kWidth}, concat("block.", layer)));
  }
  if (stage == setup.stages - 1) {
    facts.push_back(facts_of("head.weight", {kVocabulary, kWidth}, "head"));
    facts.back().tied_to = setup.tied ? "embed.weight" : "";
  }
  return facts;
}

mesh::Mesh data_mesh(const ChainSetup& setup) {
  return value_or_throw(mesh::Mesh::create({{"dp_shard", setup.data}}));
}

at::Tensor layer(const at::Tensor& x, const at::Tensor& weight) {
  return at::tanh(at::matmul(x, weight));
}

at::Tensor token_losses(const at::Tensor& x, const at::Tensor& head, const at::Tensor& targets) {
  const at::Tensor log_probability = at::log_softmax(at::matmul(x, head.t()), -1);
  const at::Tensor chosen =
      log_probability.gather(-1, targets.clamp_min(0).unsqueeze(-1)).squeeze(-1);
  return at::where(targets >= 0, -chosen, at::zeros_like(chosen));
}

std::vector<int64_t> ranks_of_stage(int64_t stage, int64_t data) {
  std::vector<int64_t> ranks;
  for (int64_t i = 0; i < data; ++i) {
    ranks.push_back(stage * data + i);
  }
  return ranks;
}

std::vector<int64_t> pipeline_ranks(int64_t data_rank, const ChainSetup& setup) {
  std::vector<int64_t> ranks;
  for (int64_t stage = 0; stage < setup.stages; ++stage) {
    ranks.push_back(stage * setup.data + data_rank);
  }
  return ranks;
}

tensor::Program::GroupMaker group_maker(collective::World& world, int64_t stage, int64_t data) {
  return [&world, stage, data](const std::vector<int64_t>& mesh_ranks, const std::string& name) {
    const std::vector<int64_t> all = ranks_of_stage(stage, data);
    std::vector<int64_t> members;
    for (const int64_t rank : mesh_ranks) {
      members.push_back(all[static_cast<size_t>(rank)]);
    }
    return world.group(std::move(members), name);
  };
}

std::vector<int64_t> everyone_in(const ChainSetup& setup) {
  std::vector<int64_t> ranks;
  for (int64_t rank = 0; rank < setup.stages * setup.data; ++rank) {
    ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace

std::string ChainSetup::to_string() const {
  return concat("pp ",
                stages,
                ", dp ",
                data,
                ", m ",
                microbatches,
                ", ",
                schedule::to_string(kind),
                ", ZeRO ",
                zero_stage,
                tied ? ", tied" : "");
}

ChainStage::ChainStage(tensor::Program& program,
                       zero::ParameterSet& parameters,
                       int64_t stage,
                       ChainSetup setup)
    : program_(program),
      parameters_(parameters),
      stage_(stage),
      setup_(std::move(setup)),
      units_(units_of(stage, setup_)) {}

sharding::TensorType ChainStage::input_type(int64_t batch, int64_t sequence) const {
  return {DType::kFloat32,
          {batch * setup_.data, sequence, kWidth},
          PartitionSpec({{"dp_shard"}, {}, {}})};
}

tensor::ShardedTensor ChainStage::forward(size_t unit,
                                          const Microbatch& microbatch,
                                          const tensor::ShardedTensor& activation) {
  const std::string& name = units_.at(unit);
  const int64_t batch = microbatch.tokens.size(0);
  const int64_t sequence = microbatch.tokens.size(1);
  if (name == "head") {
    return {program_,
            {DType::kFloat32, {batch * setup_.data, sequence}, PartitionSpec({{"dp_shard"}, {}})},
            token_losses(activation.local(), weight("head.weight"), microbatch.targets)};
  }
  return {program_,
          input_type(batch, sequence),
          name == "embedding" ? at::embedding(weight("embed.weight"), microbatch.tokens)
                              : layer(activation.local(), weight(layer_name(layer_of(name))))};
}

const at::Tensor& ChainStage::weight(const std::string& name) const {
  return parameters_.weight(name).local();
}

Rank::Rank(ChainSetup given, collective::World& given_world)
    : setup(given),
      world(given_world),
      stage(world.rank() / setup.data),
      data_rank(world.rank() % setup.data),
      program(data_mesh(setup), data_rank, group_maker(world, stage, setup.data)),
      pipeline(world.group(pipeline_ranks(data_rank, setup), "pp")),
      everyone(world.group(everyone_in(setup), "world")),
      parameters(value_or_throw(
          zero::ParameterSet::create(program,
                                     facts_of_stage(stage, setup),
                                     {.stage = setup.zero_stage,
                                      .rules = {},
                                      .data = {{}, {"dp_shard"}},
                                      .accumulation = zero::GradientSum::Order::kTree,
                                      .dtype = DType::kFloat32}))),
      model(std::make_unique<ChainStage>(program, *parameters, stage, setup)) {
  const schedule::Schedule stages = value_or_throw(schedule::generate(
      {.kind = setup.kind, .ranks = setup.stages, .microbatches = setup.microbatches}));
  const schedule::UnitPlan plan = plan_of(setup);
  const schedule::Schedule training = schedule::lower_units(stages, plan);
  value_or_throw(schedule::validate_units(training, plan));
  actions = training.per_rank[static_cast<size_t>(stage)];
  evaluation = schedule::lower_units(schedule::forwards_of(stages), plan)
                   .per_rank[static_cast<size_t>(stage)];
  parameters->initialize(kSeed);
}

Context Rank::context() {
  Context made;
  made.program = &program;
  made.stage = model.get();
  made.parameters = parameters.get();
  made.pipeline = pipeline.get();
  made.world = everyone.get();
  if (setup.tied && setup.stages > 1 && stage == 0) {
    made.tied_owned = {"embed.weight"};
  }
  if (!setup.keep.empty()) {
    made.keep.assign(model->units().size(), setup.keep.front());
  }
  return made;
}

Batch Rank::batch() const {
  const std::vector<Microbatch> all = global_batch(setup.data * setup.microbatches);
  const auto first = all.begin() + data_rank * setup.microbatches;
  return {{first, first + setup.microbatches}, trained_tokens(all)};
}

void on_chain(const ChainSetup& setup, const std::function<void(Rank&)>& body) {
  testing::run_ranks(setup.stages * setup.data, [&](collective::World& world) {
    at::set_num_threads(1);
    Rank rank(setup, world);
    body(rank);
  });
}

std::vector<Microbatch> global_batch(int64_t microbatches) {
  std::vector<Microbatch> made;
  for (int64_t i = 0; i < microbatches; ++i) {
    const at::Tensor index = at::arange(2 * kSequence, at::kLong) + i * 31;
    const at::Tensor tokens = at::remainder(index * index + 3, kVocabulary).view({2, kSequence});
    at::Tensor targets = at::remainder(tokens * 5 + 2, kVocabulary);
    // Unequal numbers of trained tokens, one microbatch with none.
    targets.narrow(1, 0, i % 4 == 1 ? kSequence : i % 3).fill_(-1);
    made.push_back({tokens, targets});
  }
  return made;
}

int64_t trained_tokens(const std::vector<Microbatch>& microbatches) {
  int64_t tokens = 0;
  for (const Microbatch& microbatch : microbatches) {
    tokens += (microbatch.targets >= 0).sum().item<int64_t>();
  }
  return tokens;
}

Outcome plain_outcome(const Tensors& weights, int64_t microbatches, bool tied) {
  Tensors leaves;
  for (const auto& [name, weight] : weights) {
    leaves[name] = weight.detach().clone().requires_grad_(true);
  }
  const std::vector<Microbatch> batch = global_batch(microbatches);
  at::Tensor sum = at::zeros({});
  for (const Microbatch& microbatch : batch) {
    at::Tensor x = at::embedding(leaves.at("embed.weight"), microbatch.tokens);
    for (int64_t i = 0; i < kLayers; ++i) {
      x = layer(x, leaves.at(layer_name(i)));
    }
    const at::Tensor& head = leaves.at(tied ? "embed.weight" : "head.weight");
    sum = sum + token_losses(x, head, microbatch.targets).sum();
  }
  const at::Tensor loss = sum / trained_tokens(batch);
  torch::autograd::backward({loss}, {});
  Outcome outcome;
  outcome.loss = loss.item<double>();
  double squares = 0.0;
  for (const auto& [name, leaf] : leaves) {
    outcome.gradients[name] = leaf.grad();
    squares += leaf.grad().to(at::kDouble).square().sum().item<double>();
  }
  outcome.norm = std::sqrt(squares);
  return outcome;
}

Tensors initial_weights(bool tied) {
  Tensors weights;
  on_chain({.tied = tied}, [&](Rank& rank) {
    for (const zero::Shard& shard : rank.parameters->shards()) {
      weights[shard.facts->name] = shard.weight.clone();
    }
  });
  return weights;
}

Update descend(Rank& rank, double rate) {
  return [&rank, rate](const StepResult&) -> Result<void> {
    for (const zero::Shard& shard : rank.parameters->shards()) {
      at::Tensor weight = shard.weight;
      weight.sub_(shard.gradient, rate);
    }
    return {};
  };
}

}  // namespace brigade::executor
