// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/run_state.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

#include <ATen/ATen.h>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "trainer/checkpoint/layout.h"
#include "trainer/loop/model_shape.h"

namespace brigade::loop {
namespace {

using checkpoint::ElementType;
using checkpoint::SourceTensors;
using checkpoint::StateBox;

constexpr std::string_view kStatePrefix = "optimizer.state.";

/// The fp32 numbers of one box, wherever they live.
StateBox state_box(std::string name, const zero::Shard& shard, std::span<const float> values) {
  return {.name = std::move(name),
          .type = ElementType::kF32,
          .shape = shard.facts->shape,
          .box = shard.box,
          .bytes = std::as_bytes(values)};
}

std::span<float> values_of(const at::Tensor& weight) {
  return {weight.data_ptr<float>(), static_cast<size_t>(weight.numel())};
}

/// A box that this rank holds, and of which parameter.
struct Held {
  StateBox box;
  std::string_view parameter;
};

std::vector<Held> held_boxes(const std::vector<zero::Shard>& shards,
                             optim::Optimizer& optimizer,
                             bool model_only) {
  std::vector<Held> held;
  std::map<std::string_view, const zero::Shard*> by_name;
  for (const zero::Shard& shard : shards) {
    const std::string& name = shard.facts->name;
    by_name.emplace(name, &shard);
    held.push_back({state_box(name, shard, values_of(shard.weight)), name});
  }
  if (!model_only) {
    for (const optim::Optimizer::State& state : optimizer.state()) {
      const std::string name = state_tensor_name(state.parameter, state.name);
      held.push_back(
          {state_box(name, *by_name.at(state.parameter), state.values), state.parameter});
    }
  }
  return held;
}

std::vector<std::string> state_names(const config::RunConfig& config) {
  return config.optimizer.name == "SGD" ? std::vector<std::string>()
                                        : std::vector<std::string>{"exp_avg", "exp_avg_sq"};
}

}  // namespace

std::string state_tensor_name(std::string_view parameter, std::string_view state) {
  return concat(kStatePrefix, parameter, '.', state);
}

std::vector<StateBox> boxes_to_write(zero::ParameterSet& parameters,
                                     optim::Optimizer& optimizer,
                                     const tensor::Program& program,
                                     bool model_only) {
  const std::vector<zero::Shard> shards = parameters.shards();
  const std::vector<Held> held = held_boxes(shards, optimizer, model_only);
  std::vector<checkpoint::Holding> holdings;
  for (const auto& [box, parameter] : held) {
    holdings.push_back({box.name, box.type, box.shape, parameters.updated_boxes(parameter)});
  }
  const auto writers =
      checkpoint::assign_writers(holdings, static_cast<size_t>(program.mesh().size()));
  std::vector<StateBox> written;
  for (const size_t tensor : writers[static_cast<size_t>(program.rank())]) {
    written.push_back(held[tensor].box);
  }
  return written;
}

SourceTensors written_tensors(const config::RunConfig& config,
                              const config::RunFacts& facts,
                              bool model_only) {
  SourceTensors tensors;
  for (int64_t stage = 0; stage < facts.pp; ++stage) {
    for (const sharding::ParameterFacts& row : parameters_of(config, stage, facts.pp)) {
      if (!row.tied_to.empty() || sharding::element_count(row.shape) == 0) {
        continue;  // nothing of its own to write
      }
      tensors[row.name] = {ElementType::kF32, row.shape};
      for (const std::string& state :
           model_only ? std::vector<std::string>() : state_names(config)) {
        tensors[state_tensor_name(row.name, state)] = {ElementType::kF32, row.shape};
      }
    }
  }
  return tensors;
}

Result<void> load_weights(zero::ParameterSet& parameters, checkpoint::TensorSource& source) {
  return parameters.load(
      [&source](const sharding::ParameterFacts& facts, const sharding::Box& box, at::Tensor& out) {
        const std::string& name = facts.tied_to.empty() ? facts.name : facts.tied_to;
        return read_float32(source, name, box, values_of(out));
      });
}

Result<void> load_states(zero::ParameterSet& parameters,
                         optim::Optimizer& optimizer,
                         checkpoint::TensorSource& source) {
  std::map<std::string_view, sharding::Box> boxes;
  const std::vector<zero::Shard> shards = parameters.shards();
  for (const zero::Shard& shard : shards) {
    boxes.emplace(shard.facts->name, shard.box);
  }
  // By name, as files are written: a disk reads what it need not search for at twice the speed.
  std::vector<optim::Optimizer::State> states = optimizer.state();
  std::sort(states.begin(), states.end(), [](const auto& a, const auto& b) {
    return std::tie(a.parameter, a.name) < std::tie(b.parameter, b.name);
  });
  for (const optim::Optimizer::State& state : states) {
    if (state.values.empty()) {
      continue;
    }
    Result<void> read = read_float32(source,
                                     state_tensor_name(state.parameter, state.name),
                                     boxes.at(state.parameter),
                                     state.values);
    if (!read) {
      return read;
    }
  }
  return {};
}

}  // namespace brigade::loop
