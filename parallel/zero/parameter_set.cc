// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/parameter_set.h"

#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "parallel/kernels/norm.h"
#include "parallel/tensor/buffers.h"
#include "parallel/tensor/memory_meter.h"
#include "parallel/zero/borrowed_storage.h"
#include "parallel/zero/initialize.h"
#include "parallel/zero/parameter_table.h"
#include "parallel/zero/unit_casts.h"
#include "parallel/zero/unit_reduction.h"

namespace brigade::zero {
namespace {

at::Tensor& mutable_gradient(const Parameter& parameter) {
  at::Tensor leaf = parameter.leaf.local();
  return leaf.mutable_grad();
}

int64_t bytes_of(const at::Tensor& tensor) {
  return tensor.defined() ? static_cast<int64_t>(tensor.storage().nbytes()) : 0;
}

}  // namespace

using sharding::ParameterFacts;

struct ParameterSet::Impl {
  std::unique_ptr<ParameterTable> table;
  UnitCasts casts{table->program, table->options};
  Reductions reductions{table->program, table->options};

  const Options& options() const { return table->options; }
  Unit& unit_at(size_t index) const {
    BRIGADE_CHECK(index < table->units.size(), index, table->units.size());
    return table->units[index];
  }
  Result<void> load(const Parameter& parameter, const ReadBox& read) const;
  void publish();
  void new_step(Unit& unit) const;
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

const Options& ParameterSet::options() const {
  return impl_->options();
}

const Placement& ParameterSet::placement(std::string_view name) const {
  return impl_->table->find(name).placement;
}

size_t ParameterSet::unit(std::string_view name) const {
  const std::vector<Unit>& units = impl_->table->units;
  for (size_t index = 0; index < units.size(); ++index) {
    if (units[index].name == name) {
      return index;
    }
  }
  BRIGADE_CHECK(false, "no such unit:", name);
}

size_t ParameterSet::units() const {
  return impl_->table->units.size();
}

const tensor::ShardedTensor& ParameterSet::weight(std::string_view name) const {
  const Parameter& parameter = impl_->table->find(name);
  if (parameter.is_sharded && !impl_->table->units[parameter.unit].is_whole) {
    throw Exception({ErrorCode::kUsage, not_gathered(*parameter.facts), -1});
  }
  return parameter.leaf;
}

void ParameterSet::initialize(uint64_t seed) {
  for (const auto& parameter : impl_->table->parameters) {
    if (parameter->owner != nullptr) {
      continue;
    }
    const ParameterFacts& facts = *parameter->facts;
    const sharding::Box rows = impl_->table->updated_box(*parameter);
    const auto fill = [&](const sharding::Box& box, const at::Tensor& out) {
      if (out.numel() > 0) {
        zero::initialize(facts, box, seed, out);
      }
    };
    if (parameter->master.defined()) {
      fill(rows, parameter->master);
    }
    fill(parameter->is_sharded
             ? rows
             : parameter->placement.used.box(facts.shape, impl_->table->program.rank()),
         parameter->stored);
  }
}

Result<void> ParameterSet::load(const ReadBox& read) {
  const c10::NoGradGuard no_history;
  std::map<std::string_view, const Parameter*> by_name;
  for (const auto& parameter : impl_->table->parameters) {
    if (parameter->owner == nullptr) {
      by_name.emplace(parameter->facts->name, parameter.get());
    }
  }
  for (const auto& [name, parameter] : by_name) {
    if (Result<void> done = impl_->load(*parameter, read); !done) {
      return done;
    }
  }
  return {};
}

Result<void> ParameterSet::Impl::load(const Parameter& parameter, const ReadBox& read) const {
  // Who updates no rows of it, a tied use of another stage's weight, has to be given all it stores.
  const bool updates = parameter.master.defined();
  at::Tensor rows = updates ? parameter.master : parameter.stored;
  const ParameterFacts& facts = *parameter.facts;
  const int64_t rank = table->program.rank();
  const sharding::Box box = updates || parameter.is_sharded
                                ? table->updated_box(parameter)
                                : parameter.placement.used.box(facts.shape, rank);
  if (rows.numel() == 0) {
    return {};
  }
  if (rows.scalar_type() == at::kFloat && rows.is_contiguous() && !facts.shape.empty()) {
    return read(facts, box, rows);
  }
  at::Tensor values = at::empty(box.shape(), at::kFloat);
  if (Result<void> done = read(facts, box, values); !done) {
    return done;
  }
  rows.copy_(values.view(rows.sizes()));
  return {};
}

void ParameterSet::unshard(size_t unit) {
  Unit& whole = impl_->unit_at(unit);
  if (whole.is_whole) {
    return;
  }
  const tensor::CategoryScope counted(tensor::Category::kGathered);
  for (const Parameter* parameter : whole.sharded) {
    allocate_storage(parameter->leaf.local());
  }
  whole.gather = impl_->casts.gather_sharded(whole);
  whole.is_whole = true;
}

Result<void> ParameterSet::wait_whole(size_t unit) {
  unshard(unit);
  return impl_->unit_at(unit).gather.wait();
}

void ParameterSet::reshard(size_t unit) {
  Unit& whole = impl_->unit_at(unit);
  if (whole.sharded.empty() || !whole.is_whole) {
    return;
  }
  BRIGADE_CHECK(whole.gather.done(), "freed before it was used:", whole.name);
  whole.gather = {};
  for (const Parameter* parameter : whole.sharded) {
    free_storage(parameter->leaf.local(), not_gathered(*parameter->facts));
  }
  whole.is_whole = false;
}

void ParameterSet::Impl::new_step(Unit& unit) const {
  unit.accumulated = 0;
  unit.microbatches = 0;
  unit.is_unreduced = true;
  for (Parameter* parameter : unit.parameters) {
    parameter->gradient.reset();
  }
}

void ParameterSet::accumulate(size_t unit, int64_t microbatch, int64_t microbatches) {
  const tensor::CategoryScope counted(tensor::Category::kGradients);
  Unit& whole = impl_->unit_at(unit);
  if (whole.is_complete()) {
    impl_->new_step(whole);
  }
  for (Parameter* parameter : whole.parameters) {
    at::Tensor gradient = std::exchange(mutable_gradient(*parameter), at::Tensor());
    if (gradient.defined()) {
      tensor::recategorize(gradient, tensor::Category::kGradients);  // an activation until now
      parameter->sum.add(std::move(gradient), microbatch, microbatches);
    }
  }
  whole.accumulated += 1;
  whole.microbatches = microbatches;
  whole.is_unreduced = true;
}

void ParameterSet::accumulate(int64_t microbatch, int64_t microbatches) {
  for (size_t unit = 0; unit < units(); ++unit) {
    accumulate(unit, microbatch, microbatches);
  }
}

Result<void> ParameterSet::reduce(size_t unit) {
  return impl_->reductions.begin(impl_->unit_at(unit));
}

Result<void> ParameterSet::reduce() {
  for (Unit& unit : impl_->table->units) {
    if (!unit.is_unreduced) {
      continue;
    }
    if (Result<void> begun = impl_->reductions.begin(unit); !begun) {
      return begun;
    }
  }
  return impl_->reductions.finish();
}

void ParameterSet::add_tied() {
  for (const auto& parameter : impl_->table->parameters) {
    if (parameter->owner != nullptr) {
      parameter->owner->gradient.add_(parameter->gradient);
    }
  }
}

at::Tensor ParameterSet::reduced_gradient(std::string_view name) {
  const at::Tensor gradient = impl_->table->find(name).gradient;
  BRIGADE_CHECK(gradient.defined(), name);
  return gradient;
}

at::Tensor ParameterSet::stored_weight(std::string_view name) {
  return impl_->table->find(name).stored;
}

/// Masters that are not the weights themselves, rounded to them.
void ParameterSet::Impl::publish() {
  const c10::NoGradGuard no_history;
  for (const auto& parameter : table->parameters) {
    if (parameter->master.defined() && options().dtype != DType::kFloat32) {
      at::Tensor updated = parameter->is_sharded
                               ? parameter->stored
                               : rows_of(parameter->stored, table->updated_rows(*parameter));
      updated.copy_(parameter->master);
    }
  }
}

Result<void> ParameterSet::gather() {
  impl_->publish();
  if (!impl_->casts.shards()) {
    return {};
  }
  std::vector<collective::Work> works;
  for (const Unit& unit : impl_->table->units) {
    if (!unit.refreshed.empty()) {
      works.push_back(impl_->casts.gather_refreshed(unit));
    }
  }
  for (collective::Work& work : works) {
    if (Result<void> done = work.wait(); !done) {
      return done;
    }
  }
  return {};
}

std::vector<std::optional<sharding::Box>> ParameterSet::updated_boxes(std::string_view name) const {
  const Parameter& parameter = impl_->table->find(name);
  const mesh::Mesh& mesh = impl_->table->program.mesh();
  std::vector<std::optional<sharding::Box>> boxes;
  for (int64_t rank = 0; rank < mesh.size(); ++rank) {
    const int64_t member = mesh.flattened_index(rank, impl_->options().data.shard);
    const bool has_rows =
        impl_->options().stage == 0 ||
        parameter.placement.shard_rows(parameter.facts->shape, rank, member).size() > 0;
    const sharding::Box box = impl_->table->updated_box(parameter, rank);
    boxes.push_back(has_rows && box.element_count() > 0 ? std::optional(box) : std::nullopt);
  }
  return boxes;
}

std::vector<Shard> ParameterSet::shards() {
  std::vector<Shard> shards;
  for (const auto& parameter : impl_->table->parameters) {
    if (!parameter->is_tied()) {
      shards.push_back({parameter->facts,
                        impl_->table->updated_box(*parameter),
                        parameter->master,
                        parameter->gradient});
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
    const sharding::Interval own = parameter.rows[static_cast<size_t>(parameter.member)];
    const at::Tensor rows =
        (impl_->options().stage == 0 ? rows_of(parameter.gradient, own) : parameter.gradient)
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
  impl_->reductions.clear();
  for (Unit& unit : impl_->table->units) {
    impl_->new_step(unit);
    for (Parameter* parameter : unit.parameters) {
      parameter->sum.finish();
      parameter->terms.reset();
      parameter->result.reset();
      mutable_gradient(*parameter).reset();
    }
  }
}

at::Tensor ParameterSet::collect(std::string_view name) {
  const c10::NoGradGuard no_history;
  tensor::Program& program = impl_->table->program;
  const Parameter& use = impl_->table->find(name);
  const Parameter& parameter = use.owner == nullptr ? use : *use.owner;
  const bool by_rows = parameter.is_sharded || parameter.master.defined();
  const at::Tensor held = parameter.master.defined() ? parameter.master : parameter.stored;
  const DType dtype = tensor::dtype_of(held);
  if (parameter.facts->shape.empty() && impl_->options().stage > 0 && by_rows) {
    // One member of the shard group has it, the others a zero in its place.
    at::Tensor value = at::zeros({1}, held.options());
    value.narrow(0, 0, held.numel()).copy_(held);
    value_or_throw(program.group(impl_->options().data.shard)
                       .all_reduce({tensor::bytes_of(value)}, dtype, collective::ReduceOp::kSum)
                       .wait());
    return value.select(0, 0);
  }
  const sharding::PartitionSpec& spec = impl_->options().stage > 0 && by_rows
                                            ? parameter.placement.shard.spec
                                            : parameter.placement.used.spec;
  const sharding::TensorType type{dtype, parameter.facts->shape, spec};
  return tensor::collect(
      tensor::ShardedTensor(program, type, held.view(tensor::local_shape(program, type))));
}

int64_t ParameterSet::weight_bytes() const {
  int64_t bytes = 0;
  for (const auto& parameter : impl_->table->parameters) {
    bytes += parameter->owner == nullptr ? bytes_of(parameter->stored) : 0;
  }
  return bytes;
}

int64_t ParameterSet::master_bytes() const {
  int64_t bytes = 0;
  for (const auto& parameter : impl_->table->parameters) {
    const bool apart = parameter->master.defined() &&
                       !parameter->master.storage().is_alias_of(parameter->stored.storage());
    bytes += apart ? bytes_of(parameter->master) : 0;
  }
  return bytes;
}

int64_t ParameterSet::gathered_bytes() const {
  int64_t bytes = 0;
  for (const Unit& unit : impl_->table->units) {
    for (const Parameter* parameter : unit.sharded) {
      bytes += unit.is_whole ? bytes_of(parameter->leaf.local()) : 0;
    }
  }
  return bytes;
}

int64_t ParameterSet::gradient_bytes() const {
  int64_t bytes = 0;
  std::set<const void*> counted;  // views share memory
  const auto count = [&](const at::Tensor& tensor) {
    if (tensor.defined() && counted.insert(tensor.storage().unsafeGetStorageImpl()).second) {
      bytes += bytes_of(tensor);
    }
  };
  for (const auto& parameter : impl_->table->parameters) {
    bytes +=
        parameter->sum.live_tensors() * parameter->leaf.local().numel() * size_of(DType::kFloat32);
    for (const at::Tensor* held : {&parameter->gradient, &parameter->terms, &parameter->result}) {
      count(*held);
    }
    count(mutable_gradient(*parameter));
  }
  return bytes;
}

}  // namespace brigade::zero
