// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/parameter_set.h"

#include <utility>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "parallel/base/check.h"
#include "parallel/kernels/norm.h"
#include "parallel/zero/initialize.h"
#include "parallel/zero/parameter_table.h"

namespace brigade::zero {
namespace {

at::Tensor& mutable_gradient(const Parameter& parameter) {
  at::Tensor leaf = parameter.leaf.local();
  return leaf.mutable_grad();
}

}  // namespace

using sharding::ParameterFacts;

struct ParameterSet::Impl {
  std::unique_ptr<ParameterTable> table;
};

ParameterSet::ParameterSet(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ParameterSet::~ParameterSet() = default;

Result<std::unique_ptr<ParameterSet>> ParameterSet::create(tensor::Program& program,
                                                           std::vector<ParameterFacts> facts,
                                                           Options options) {
  Result<std::unique_ptr<ParameterTable>> table =
      ParameterTable::create(program, std::move(facts), std::move(options));
  if (!table) {
    return fail(table.error());
  }
  return std::unique_ptr<ParameterSet>(
      new ParameterSet(std::unique_ptr<Impl>(new Impl{std::move(*table)})));
}

const std::vector<ParameterFacts>& ParameterSet::facts() const {
  return impl_->table->facts;
}

const tensor::ShardedTensor& ParameterSet::weight(std::string_view name) const {
  return impl_->table->find(name).leaf;
}

const Placement& ParameterSet::placement(std::string_view name) const {
  return impl_->table->find(name).placement;
}

void ParameterSet::initialize(uint64_t seed) {
  for (const auto& parameter : impl_->table->parameters) {
    if (parameter->owner == nullptr) {
      const ParameterFacts& facts = *parameter->facts;
      zero::initialize(facts,
                       parameter->placement.used.box(facts.shape, impl_->table->program.rank()),
                       seed,
                       parameter->data);
    }
  }
}

Result<void> ParameterSet::load(
    const std::function<Result<void>(
        const ParameterFacts& facts, const sharding::Box& box, at::Tensor& out)>& read) {
  const c10::NoGradGuard no_history;
  for (const auto& parameter : impl_->table->parameters) {
    if (parameter->owner != nullptr) {
      continue;
    }
    const ParameterFacts& facts = *parameter->facts;
    at::Tensor out = parameter->data;
    const sharding::Box box =
        parameter->placement.used.box(facts.shape, impl_->table->program.rank());
    if (Result<void> done = read(facts, box, out); !done) {
      return done;
    }
  }
  return {};
}

void ParameterSet::accumulate(int64_t microbatch, int64_t microbatches) {
  for (const auto& parameter : impl_->table->parameters) {
    parameter->gradient.reset();
    at::Tensor gradient = std::exchange(mutable_gradient(*parameter), at::Tensor());
    if (gradient.defined()) {
      parameter->sum.add(std::move(gradient), microbatch, microbatches);
    }
  }
}

Result<void> ParameterSet::reduce() {
  for (const auto& parameter : impl_->table->parameters) {
    parameter->gradient = parameter->sum.finish();
    if (!parameter->gradient.defined()) {
      parameter->gradient = at::zeros(parameter->data.sizes(), at::kFloat);
    }
  }
  return reduce_gradients(impl_->table->program,
                          impl_->table->options.data,
                          impl_->table->reduced_units,
                          impl_->table->options.stage == 0);
}

void ParameterSet::add_tied() {
  for (const auto& parameter : impl_->table->parameters) {
    if (parameter->owner != nullptr) {
      impl_->table->updated_gradient(*parameter->owner)
          .add_(impl_->table->updated_gradient(*parameter));
    }
  }
}

at::Tensor ParameterSet::reduced_gradient(std::string_view name) {
  const at::Tensor gradient = impl_->table->updated_gradient(impl_->table->find(name));
  BRIGADE_CHECK(gradient.defined(), name);
  return gradient;
}

at::Tensor ParameterSet::weight_data(std::string_view name) {
  return impl_->table->find(name).data;
}

Result<void> ParameterSet::gather() {
  if (impl_->table->options.stage == 0) {
    return {};
  }
  return gather_weights(
      impl_->table->program, impl_->table->options.data, impl_->table->gathered_units);
}

std::vector<Shard> ParameterSet::shards() {
  std::vector<Shard> shards;
  for (const auto& parameter : impl_->table->parameters) {
    if (!parameter->is_tied()) {
      shards.push_back({parameter->facts,
                        rows_of(parameter->data, impl_->table->updated_rows(*parameter)),
                        impl_->table->updated_gradient(*parameter)});
    }
  }
  return shards;
}

int64_t ParameterSet::add_squares(ExactSum& sum) {
  int64_t first_bad = -1;
  for (size_t i = 0; i < impl_->table->parameters.size(); ++i) {
    const Parameter& parameter = *impl_->table->parameters[i];
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
  for (const auto& parameter : impl_->table->parameters) {
    parameter->gradient.reset();
    parameter->sum.finish();
    mutable_gradient(*parameter).reset();
  }
}

int64_t ParameterSet::weight_bytes() const {
  int64_t bytes = 0;
  for (const auto& parameter : impl_->table->parameters) {
    if (parameter->owner == nullptr) {
      bytes += static_cast<int64_t>(parameter->data.nbytes());
    }
  }
  return bytes;
}

int64_t ParameterSet::gradient_bytes() const {
  int64_t bytes = 0;
  for (const auto& parameter : impl_->table->parameters) {
    const at::Tensor& unread = mutable_gradient(*parameter);
    const int64_t held = parameter->sum.live_tensors() + (parameter->gradient.defined() ? 1 : 0);
    bytes += held * parameter->data.numel() * size_of(DType::kFloat32);
    bytes += unread.defined() ? static_cast<int64_t>(unread.nbytes()) : 0;
  }
  return bytes;
}

}  // namespace brigade::zero
