// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/parameter_set.h"

#include <algorithm>
#include <map>
#include <utility>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "parallel/kernels/norm.h"
#include "parallel/tensor/buffers.h"
#include "parallel/tensor/program.h"
#include "parallel/zero/initialize.h"
#include "parallel/zero/parameter.h"
#include "parallel/zero/unit_casts.h"

namespace brigade::zero {

using sharding::ParameterFacts;

at::Tensor rows_of(const at::Tensor& whole, const sharding::Interval& rows) {
  const at::Tensor listed = whole.dim() == 0 ? whole.view({1}) : whole;
  return listed.narrow(0, rows.begin, rows.size());
}

struct ParameterSet::Impl {
  tensor::Program& program;
  std::vector<ParameterFacts> facts;
  Options options;
  std::vector<std::unique_ptr<Parameter>> parameters = {};  // in the order of facts
  std::map<std::string, Parameter*, std::less<>> by_name = {};
  std::vector<Unit> reduced_units = {};   // all: every use has a gradient of its own
  std::vector<Unit> gathered_units = {};  // without tied uses: their weights are their owners'

  Result<void> add(const ParameterFacts& facts);
  Result<void> tie(Parameter& use);
  void allocate(Parameter& parameter);
  void list_in_units(Parameter& parameter);

  Parameter& find(std::string_view name) const;
  /// What this rank updates: all rows at stage 0, its own at stage 1.
  sharding::Interval updated_rows(const Parameter& parameter) const;
  at::Tensor updated_gradient(const Parameter& parameter) const;
};

namespace {

void list_in(std::vector<Unit>& units, Parameter& parameter) {
  const std::string& name = parameter.facts->unit;
  auto unit = std::find_if(
      units.begin(), units.end(), [&](const Unit& known) { return known.name == name; });
  if (unit == units.end()) {
    unit = units.insert(units.end(), Unit{name, {}});
  }
  unit->parameters.push_back(&parameter);
}

at::Tensor& mutable_gradient(const Parameter& parameter) {
  at::Tensor leaf = parameter.leaf.local();
  return leaf.mutable_grad();
}

}  // namespace

Result<void> ParameterSet::Impl::add(const ParameterFacts& row) {
  if (by_name.contains(row.name)) {
    return fail(ErrorCode::kUsage, concat("parameter ", row.name, " is listed twice"));
  }
  Result<Placement> placement = place(program.mesh(), row, options.rules, options.data);
  if (!placement) {
    return fail(placement.error());
  }
  const int64_t rank = program.rank();
  auto parameter = std::make_unique<Parameter>(
      Parameter{.facts = &row,
                .placement = *std::move(placement),
                .rows = {},
                .member = program.mesh().flattened_index(rank, options.data.shard),
                .is_counted = false,
                .owner = nullptr,
                .data = {},
                .leaf = {},
                .sum = GradientSum(options.accumulation),
                .gradient = {}});
  const int64_t members = program.mesh().axes_size(options.data.shard);
  for (int64_t member = 0; member < members; ++member) {
    parameter->rows.push_back(parameter->placement.shard_rows(row.shape, rank, member));
  }
  parameter->is_counted = !parameter->is_tied() && parameter->placement.is_first_copy(rank);
  by_name.emplace(row.name, parameter.get());
  parameters.push_back(std::move(parameter));
  return {};
}

Result<void> ParameterSet::Impl::tie(Parameter& use) {
  const auto owner = by_name.find(use.facts->tied_to);
  if (!use.is_tied() || owner == by_name.end()) {
    return {};
  }
  const ParameterFacts& owned = *owner->second->facts;
  if (owner->second->is_tied()) {
    return fail(ErrorCode::kUsage,
                concat("parameter ",
                       use.facts->name,
                       " is tied to ",
                       owned.name,
                       ", which is tied itself; tie it to ",
                       owned.tied_to));
  }
  if (owned.shape != use.facts->shape ||
      owner->second->placement.used.spec != use.placement.used.spec) {
    return fail(ErrorCode::kUsage,
                concat("tied parameters need equal shapes and placements; ",
                       use.facts->name,
                       " [",
                       join(use.facts->shape),
                       "] is ",
                       use.placement.used.spec.to_string(),
                       ", its owner ",
                       owned.name,
                       " [",
                       join(owned.shape),
                       "] is ",
                       owner->second->placement.used.spec.to_string()));
  }
  use.owner = owner->second;
  return {};
}

void ParameterSet::Impl::allocate(Parameter& parameter) {
  const sharding::Shape shape =
      parameter.placement.used.local_shape(parameter.facts->shape, program.rank());
  parameter.data = parameter.owner != nullptr
                       ? parameter.owner->data
                       : at::empty(shape, tensor::scalar_type_of(options.dtype));
  parameter.leaf =
      tensor::ShardedTensor(program,
                            {options.dtype, parameter.facts->shape, parameter.placement.used.spec},
                            parameter.data.detach().requires_grad_(true));
}

void ParameterSet::Impl::list_in_units(Parameter& parameter) {
  list_in(reduced_units, parameter);
  if (!parameter.is_tied()) {
    list_in(gathered_units, parameter);
  }
}

Parameter& ParameterSet::Impl::find(std::string_view name) const {
  const auto found = by_name.find(name);
  BRIGADE_CHECK(found != by_name.end(), name);
  return *found->second;
}

sharding::Interval ParameterSet::Impl::updated_rows(const Parameter& parameter) const {
  if (options.stage == 0) {
    return {0, parameter.rows.back().end};
  }
  return parameter.rows[static_cast<size_t>(parameter.member)];
}

at::Tensor ParameterSet::Impl::updated_gradient(const Parameter& parameter) const {
  return parameter.gradient.defined() ? rows_of(parameter.gradient, updated_rows(parameter))
                                      : at::Tensor();
}

ParameterSet::ParameterSet(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ParameterSet::~ParameterSet() = default;

Result<std::unique_ptr<ParameterSet>> ParameterSet::create(tensor::Program& program,
                                                           std::vector<ParameterFacts> facts,
                                                           Options options) {
  if (options.stage != 0 && options.stage != 1) {
    return fail(ErrorCode::kUsage, concat("ZeRO stage must be 0 or 1, found ", options.stage));
  }
  std::unique_ptr<Impl> impl(new Impl{program, std::move(facts), std::move(options)});
  for (const ParameterFacts& row : impl->facts) {
    if (Result<void> added = impl->add(row); !added) {
      return fail(added.error());
    }
  }
  for (const auto& parameter : impl->parameters) {
    if (Result<void> tied = impl->tie(*parameter); !tied) {
      return fail(tied.error());
    }
  }
  for (const bool owners : {true, false}) {  // a use may be listed before its owner
    for (const auto& parameter : impl->parameters) {
      if ((parameter->owner == nullptr) == owners) {
        impl->allocate(*parameter);
      }
    }
  }
  for (const auto& parameter : impl->parameters) {
    impl->list_in_units(*parameter);
  }
  return std::unique_ptr<ParameterSet>(new ParameterSet(std::move(impl)));
}

const std::vector<ParameterFacts>& ParameterSet::facts() const {
  return impl_->facts;
}

const tensor::ShardedTensor& ParameterSet::weight(std::string_view name) const {
  return impl_->find(name).leaf;
}

const Placement& ParameterSet::placement(std::string_view name) const {
  return impl_->find(name).placement;
}

void ParameterSet::initialize(uint64_t seed) {
  for (const auto& parameter : impl_->parameters) {
    if (parameter->owner == nullptr) {
      const ParameterFacts& facts = *parameter->facts;
      zero::initialize(facts,
                       parameter->placement.used.box(facts.shape, impl_->program.rank()),
                       seed,
                       parameter->data);
    }
  }
}

Result<void> ParameterSet::load(
    const std::function<Result<void>(
        const ParameterFacts& facts, const sharding::Box& box, at::Tensor& out)>& read) {
  const c10::NoGradGuard no_history;
  for (const auto& parameter : impl_->parameters) {
    if (parameter->owner != nullptr) {
      continue;
    }
    const ParameterFacts& facts = *parameter->facts;
    at::Tensor out = parameter->data;
    const sharding::Box box = parameter->placement.used.box(facts.shape, impl_->program.rank());
    if (Result<void> done = read(facts, box, out); !done) {
      return done;
    }
  }
  return {};
}

void ParameterSet::accumulate() {
  for (const auto& parameter : impl_->parameters) {
    parameter->gradient.reset();
    at::Tensor gradient = std::exchange(mutable_gradient(*parameter), at::Tensor());
    if (gradient.defined()) {
      parameter->sum.add(std::move(gradient));
    }
  }
}

Result<void> ParameterSet::reduce() {
  for (const auto& parameter : impl_->parameters) {
    parameter->gradient = parameter->sum.finish();
    if (!parameter->gradient.defined()) {
      parameter->gradient = at::zeros(parameter->data.sizes(), at::kFloat);
    }
  }
  return reduce_gradients(
      impl_->program, impl_->options.data, impl_->reduced_units, impl_->options.stage == 0);
}

void ParameterSet::add_tied() {
  for (const auto& parameter : impl_->parameters) {
    if (parameter->owner != nullptr) {
      impl_->updated_gradient(*parameter->owner).add_(impl_->updated_gradient(*parameter));
    }
  }
}

at::Tensor ParameterSet::reduced_gradient(std::string_view name) {
  const at::Tensor gradient = impl_->updated_gradient(impl_->find(name));
  BRIGADE_CHECK(gradient.defined(), name);
  return gradient;
}

at::Tensor ParameterSet::weight_data(std::string_view name) {
  return impl_->find(name).data;
}

Result<void> ParameterSet::gather() {
  if (impl_->options.stage == 0) {
    return {};
  }
  return gather_weights(impl_->program, impl_->options.data, impl_->gathered_units);
}

std::vector<Shard> ParameterSet::shards() {
  std::vector<Shard> shards;
  for (const auto& parameter : impl_->parameters) {
    if (!parameter->is_tied()) {
      shards.push_back({parameter->facts,
                        rows_of(parameter->data, impl_->updated_rows(*parameter)),
                        impl_->updated_gradient(*parameter)});
    }
  }
  return shards;
}

int64_t ParameterSet::add_squares(ExactSum& sum) {
  int64_t first_bad = -1;
  for (size_t i = 0; i < impl_->parameters.size(); ++i) {
    const Parameter& parameter = *impl_->parameters[i];
    if (!parameter.is_counted) {
      continue;
    }
    BRIGADE_CHECK(parameter.gradient.defined(), parameter.facts->name);
    const at::Tensor rows =
        rows_of(parameter.gradient, parameter.rows[static_cast<size_t>(parameter.member)])
            .to(at::kCPU);
    const int64_t bad_before = sum.nonfinite_count();
    if (rows.numel() > 0) {
      kernels::add_sum_of_squares(
          rows.data_ptr<float>(), rows.size(0), rows.numel() / rows.size(0), sum);
    }
    if (first_bad < 0 && sum.nonfinite_count() != bad_before) {
      first_bad = static_cast<int64_t>(i);
    }
  }
  return first_bad;
}

void ParameterSet::clear_gradients() {
  for (const auto& parameter : impl_->parameters) {
    parameter->gradient.reset();
    parameter->sum.finish();
    mutable_gradient(*parameter).reset();
  }
}

int64_t ParameterSet::weight_bytes() const {
  int64_t bytes = 0;
  for (const auto& parameter : impl_->parameters) {
    if (parameter->owner == nullptr) {
      bytes += static_cast<int64_t>(parameter->data.nbytes());
    }
  }
  return bytes;
}

int64_t ParameterSet::gradient_bytes() const {
  int64_t bytes = 0;
  for (const auto& parameter : impl_->parameters) {
    const at::Tensor& unread = mutable_gradient(*parameter);
    const int64_t held = parameter->sum.live_tensors() + (parameter->gradient.defined() ? 1 : 0);
    bytes += held * parameter->data.numel() * size_of(DType::kFloat32);
    bytes += unread.defined() ? static_cast<int64_t>(unread.nbytes()) : 0;
  }
  return bytes;
}

}  // namespace brigade::zero
