// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/sharded_module.h"

#include <exception>
#include <span>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/nn/module.h>
#include <torch/optim/lbfgs.h>
#include <torch/optim/optimizer.h>

#include "parallel/base/text.h"
#include "parallel/sharding/interval.h"
#include "parallel/zero/clip.h"
#include "parallel/zero/module_rows.h"
#include "parallel/zero/module_start.h"
#include "parallel/zero/module_units.h"
#include "parallel/zero/parameter_set.h"
#include "parallel/zero/unit_hooks.h"

namespace brigade::zero {
namespace {

constexpr char kReplicate[] = "dp_replicate";
constexpr char kShard[] = "dp_shard";

mesh::Mesh data_mesh(const collective::World& world, const ModuleOptions& options) {
  if (options.passes < 1) {
    throw Exception({ErrorCode::kUsage,
                     concat("ModuleOptions::passes must be at least 1, found ", options.passes)});
  }
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

std::vector<std::string> units_of(const torch::nn::Module& module, const ModuleOptions& options) {
  return options.units.empty() && options.stage >= 2 ? children_of(module) : options.units;
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
        rows(value_or_throw(module_rows(module, units_of(module, options)))),
        set(value_or_throw(ParameterSet::create(program, facts_of(rows), set_options(options)))),
        units(std::make_shared<ModuleUnits>(
            *set, rows, options.stage >= 2 ? options.passes : int64_t{1})) {}

  tensor::Program program;
  collective::Communicator& everyone;
  ModuleRows rows;
  std::unique_ptr<ParameterSet> set;
  std::shared_ptr<ModuleUnits> units;  // the hooks and unit scopes look at it
  std::unique_ptr<UnitHooks> hooks = {};
  std::vector<at::Tensor> shards = {};  // leaves for the optimizer, one per trained row
  std::vector<std::string> names = {};

  void start(const torch::nn::Module& module);
  void update(torch::optim::Optimizer& optimizer, double scale);
};

void ShardedModule::Impl::start(const torch::nn::Module& module) {
  value_or_throw(start_equal(everyone, rows));
  units->move_in();
  if (units->reduces_in_backward()) {
    hooks = std::make_unique<UnitHooks>(module, rows, units, *set);
  }
  for (const Shard& shard : set->shards()) {
    names.push_back(shard.facts->name);
    shards.push_back(shard.weight.detach().requires_grad_(true));
  }
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

ShardedModule::ShardedModule(collective::World& world,
                             torch::nn::Module& module,
                             ModuleOptions options)
    : impl_(std::make_unique<Impl>(world, module, options)) {
  impl_->start(module);
}

ShardedModule::~ShardedModule() {
  // On the way out of a failure what is under way is not waited for: dropping it tells the others.
  if (std::uncaught_exceptions() == 0) {
    impl_->units->settle();
  }
}

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
  StepFindings findings;
  findings.moved = impl_->units->first_moved();
  if (options.missing_gradient == MissingGradient::kError) {
    findings.missing = impl_->units->first_missing();
  }
  impl_->units->finish();
  impl_->units->agree_on_order(impl_->everyone);
  findings.bad = impl_->set->add_squares(findings.squares);
  const Result<StepReport> report =
      agree_on_step(impl_->everyone, std::move(findings), impl_->names, options.non_finite);
  if (report && !report->skipped) {
    impl_->update(optimizer, clip_factor(report->gradient_norm, options.max_norm));
    value_or_throw(impl_->set->gather());
  }
  impl_->units->end_step();
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
  if (impl_->units->reduces_in_backward()) {
    impl_->units->finish();
  }
  impl_->units->end_step();
}

void ShardedModule::unshard() {
  impl_->units->unshard();
}

void ShardedModule::reshard() {
  impl_->units->reshard();
}

tensor::Program& ShardedModule::program() {
  return impl_->program;
}

}  // namespace brigade::zero
