// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/sharded_module.h"

#include <span>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/nn/module.h>
#include <torch/optim/lbfgs.h>
#include <torch/optim/optimizer.h>

#include "parallel/base/text.h"
#include "parallel/sharding/interval.h"
#include "parallel/zero/module_rows.h"
#include "parallel/zero/module_start.h"
#include "parallel/zero/parameter_set.h"

namespace brigade::zero {
namespace {

constexpr char kReplicate[] = "dp_replicate";
constexpr char kShard[] = "dp_shard";

mesh::Mesh data_mesh(const collective::World& world, const ModuleOptions& options) {
  if (options.replicas < 1 || world.size() % options.replicas != 0) {
    throw Exception({ErrorCode::kUsage,
                     concat("ModuleOptions::replicas must divide the number of ranks, ",
                            world.size(),
                            "; found ",
                            options.replicas)});
  }
  return value_or_throw(mesh::Mesh::create(
      {{kReplicate, options.replicas}, {kShard, world.size() / options.replicas}}));
}

Options set_options(const ModuleOptions& options) {
  Options set;
  set.stage = options.stage;
  set.data = {{kReplicate}, {kShard}};
  return set;
}

std::vector<sharding::ParameterFacts> facts_of(const ModuleRows& rows) {
  std::vector<sharding::ParameterFacts> facts;
  for (const ModuleRow& row : rows.trained) {
    facts.push_back(row.facts);
  }
  return facts;
}

}  // namespace

struct ShardedModule::Impl {
  Impl(collective::World& world, const torch::nn::Module& module, const ModuleOptions& options)
      : program(
            data_mesh(world, options),
            world.rank(),
            [&world](const auto& members, const auto& name) { return world.group(members, name); }),
        everyone(program.group({kReplicate, kShard})),
        rows(value_or_throw(module_rows(module, options.units))),
        set(value_or_throw(ParameterSet::create(program, facts_of(rows), set_options(options)))) {}

  tensor::Program program;
  collective::Communicator& everyone;
  ModuleRows rows;
  std::unique_ptr<ParameterSet> set;
  std::vector<at::Tensor> shards = {};  // leaves for the optimizer, one per trained row
  std::vector<std::string> names = {};

  void move_in();
  StepFindings hand_over_gradients(MissingGradient missing_gradient);
  void update(torch::optim::Optimizer& optimizer, double scale);
  void drop_gradients();
};

/// Puts the set's memory under the module's parameters, with their values.
void ShardedModule::Impl::move_in() {
  const c10::NoGradGuard no_history;
  for (const ModuleRow& row : rows.trained) {
    at::Tensor own = set->weight(row.facts.name).local().detach();
    own.copy_(row.parameter);
    at::Tensor(row.parameter).set_data(own);
    names.push_back(row.facts.name);
  }
  for (const Shard& shard : set->shards()) {
    shards.push_back(shard.weight.detach().requires_grad_(true));
  }
}

/// The module's gradients become those of the set's leaves.
StepFindings ShardedModule::Impl::hand_over_gradients(MissingGradient missing_gradient) {
  StepFindings findings;
  for (size_t i = 0; i < rows.trained.size(); ++i) {
    at::Tensor parameter = rows.trained[i].parameter;
    at::Tensor leaf = set->weight(names[i]).local();
    leaf.mutable_grad() = std::exchange(parameter.mutable_grad(), at::Tensor());
    const auto index = static_cast<int64_t>(i);
    if (findings.moved < 0 && !parameter.is_alias_of(leaf)) {
      findings.moved = index;
    }
    const bool is_wanted = missing_gradient == MissingGradient::kError && leaf.numel() > 0;
    if (findings.missing < 0 && is_wanted && !leaf.grad().defined()) {
      findings.missing = index;
    }
  }
  return findings;
}

void ShardedModule::Impl::update(torch::optim::Optimizer& optimizer, double scale) {
  const std::vector<Shard> reduced = set->shards();
  for (size_t i = 0; i < shards.size(); ++i) {
    at::Tensor gradient = reduced[i].gradient;
    if (scale != 1.0) {
      gradient.mul_(scale);
    }
    shards[i].mutable_grad() = std::move(gradient);
  }
  optimizer.step();
  for (at::Tensor& shard : shards) {
    shard.mutable_grad().reset();
  }
}

void ShardedModule::Impl::drop_gradients() {
  set->clear_gradients();
  for (const ModuleRow& row : rows.trained) {
    at::Tensor(row.parameter).mutable_grad().reset();
  }
}

ShardedModule::ShardedModule(collective::World& world,
                             torch::nn::Module& module,
                             ModuleOptions options)
    : impl_(std::make_unique<Impl>(world, module, options)) {
  value_or_throw(start_equal(impl_->everyone, impl_->rows));
  impl_->move_in();
}

ShardedModule::~ShardedModule() = default;

std::vector<at::Tensor> ShardedModule::shards() const {
  return impl_->shards;
}

std::vector<std::pair<std::string, at::Tensor>> ShardedModule::named_shards() const {
  std::vector<std::pair<std::string, at::Tensor>> named;
  for (size_t i = 0; i < impl_->shards.size(); ++i) {
    named.emplace_back(impl_->names[i], impl_->shards[i]);
  }
  return named;
}

at::Tensor ShardedModule::share(const at::Tensor& batch) const {
  const collective::Communicator& everyone = impl_->everyone;
  const sharding::Interval rows =
      sharding::interval(batch.size(0), everyone.rank(), everyone.size());
  return batch.narrow(0, rows.begin, rows.size());
}

StepReport ShardedModule::step(torch::optim::Optimizer& optimizer, const StepOptions& options) {
  if (dynamic_cast<torch::optim::LBFGS*>(&optimizer) != nullptr) {
    throw Exception({ErrorCode::kUsage,
                     "LBFGS looks at all parameters at once and cannot work on a rank's shards; "
                     "use an optimizer that updates element by element, like AdamW or SGD"});
  }
  const c10::NoGradGuard no_history;
  StepFindings findings = impl_->hand_over_gradients(options.missing_gradient);
  impl_->set->accumulate(0, 1);
  value_or_throw(impl_->set->reduce());
  findings.bad = impl_->set->add_squares(findings.squares);
  const Result<StepReport> report =
      agree_on_step(impl_->everyone, std::move(findings), impl_->names, options.non_finite);
  if (report && !report->skipped) {
    impl_->update(optimizer, clip_scale(report->gradient_norm, options.max_norm));
    value_or_throw(impl_->set->gather());
  }
  impl_->drop_gradients();
  return value_or_throw(report);
}

double ShardedModule::sum(double value) {
  value_or_throw(impl_->everyone
                     .all_reduce({collective::bytes_of(std::span<double>(&value, 1))},
                                 DType::kFloat64,
                                 collective::ReduceOp::kSum)
                     .wait());
  return value;
}

double ShardedModule::sum(const at::Tensor& scalar) {
  return sum(scalar.item<double>());
}

int64_t ShardedModule::global_count(int64_t mine) {
  value_or_throw(impl_->everyone
                     .all_reduce({collective::bytes_of(std::span<int64_t>(&mine, 1))},
                                 DType::kInt64,
                                 collective::ReduceOp::kSum)
                     .wait());
  return mine;
}

void ShardedModule::zero_grad() {
  impl_->drop_gradients();
}

tensor::Program& ShardedModule::program() {
  return impl_->program;
}

}  // namespace brigade::zero
