// SPDX-License-Identifier: Apache-2.0
#include "tests/models/decoder/activation_check.h"

#include <memory>
#include <string>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "models/decoder/placement_rules.h"
#include "models/decoder/units.h"
#include "parallel/tensor/memory_meter.h"
#include "parallel/tensor/program.h"
#include "tests/support/rank_threads.h"

namespace brigade::testing {
namespace {

using decoder::UnitActivations;
using tensor::Category;
using tensor::CategoryScope;

constexpr int64_t kClasses = 30;  // tokens that every model of the tests has

decoder::ActivationShape shape_of(const ActivationCase& given, int64_t rank) {
  return {.batch = given.batch,
          .sequence = given.sequence,
          .tensor_ranks = given.tensor_ranks,
          .tensor_rank = rank,
          .sequence_parallel = given.sequence_parallel,
          .dtype = given.dtype};
}

executor::Microbatch microbatch(const ActivationCase& given) {
  const CategoryScope elsewhere(Category::kCommunication);
  const at::Tensor ids =
      at::remainder(at::arange(given.batch * (given.sequence + 1), at::kLong) * 37 + 5, kClasses)
          .view({given.batch, given.sequence + 1});
  return {ids.narrow(1, 0, given.sequence).contiguous(),
          ids.narrow(1, 1, given.sequence).contiguous(),
          executor::TrainingPlace{.step = 1, .first_row = 0}};
}

int64_t bytes_of(const tensor::ShardedTensor& x) {
  return x.defined() ? static_cast<int64_t>(x.local().nbytes()) : 0;
}

/// Forward and backward of a unit on its own, `x` its input; returns its result.
tensor::ShardedTensor check_unit(executor::Stage& stage,
                                 size_t unit,
                                 const executor::Microbatch& rows,
                                 const tensor::ShardedTensor& x,
                                 const UnitActivations& stated,
                                 tensor::Meter& meter) {
  const auto live = [&] { return meter.use().live[Category::kActivations]; };
  tensor::ShardedTensor input;
  if (x.defined()) {
    EXPECT_EQ(bytes_of(x), stated.input);
    input =
        tensor::ShardedTensor(x.program(), &x.record(), x.local().detach().requires_grad_(true));
  }
  const int64_t before = live() - bytes_of(x);
  const tensor::ShardedTensor output = stage.forward(unit, rows, input);
  const bool passes_on = unit + 1 < stage.units().size();  // else the result is the losses
  const int64_t passed_on = passes_on ? bytes_of(output) : 0;
  EXPECT_EQ(live() - before, stated.saved + passed_on);

  const at::Tensor gradient = at::ones_like(output.local());
  meter.reset_peaks();
  torch::autograd::backward({output.local()}, {gradient});
  // What the backward made: gradients of parameters and of the input.
  const int64_t made = live() - before - bytes_of(x) - 2 * passed_on;
  const int64_t peak = meter.use().peak[Category::kActivations] - before - passed_on;
  EXPECT_LE(peak, stated.saved + stated.working + made);
  EXPECT_GE(peak, stated.saved + stated.working / 2);
  return tensor::ShardedTensor(output.program(), &output.record(), output.local().detach());
}

/// On one rank, under a meter of its own.
void check(const decoder::Model& model,
           const ActivationCase& given,
           tensor::Program& program,
           tensor::Meter& meter) {
  std::unique_ptr<zero::ParameterSet> parameters;
  {
    const CategoryScope scope(Category::kParameters);
    zero::Options options;
    options.dtype = given.dtype;
    options.rules = decoder::tensor_parallel_rules();
    options.parts =
        given.sequence_parallel ? decoder::sequence_parallel_rules() : zero::AxisRules();
    options.data = {.replicate = {"dp_replicate"}, .shard = {"dp_shard"}};
    parameters = value_or_throw(
        zero::ParameterSet::create(program, model.stage_facts(0, 1), std::move(options)));
    parameters->initialize(3);
  }
  const auto live = [&] { return meter.use().live[Category::kActivations]; };
  const std::unique_ptr<executor::Stage> stage =
      model.make_stage({.stage = 0,
                        .stages = 1,
                        .sequence = given.sequence,
                        .batch_axes = {"dp_replicate", "dp_shard"},
                        .sequence_parallel = given.sequence_parallel,
                        .dtype = given.dtype},
                       program,
                       *parameters);
  const decoder::ModelActivations stated = model.activations(shape_of(given, program.rank()));
  EXPECT_EQ(live(), stated.resident);

  const executor::Microbatch rows = microbatch(given);
  tensor::ShardedTensor x;
  for (size_t unit = 0; unit < stage->units().size(); ++unit) {
    const std::string& name = stage->units()[unit];
    SCOPED_TRACE(name);
    const UnitActivations& bytes = name == decoder::kEmbeddingUnit ? stated.embedding
                                   : name == decoder::kHeadUnit    ? stated.head
                                                                   : stated.block;
    x = check_unit(*stage, unit, rows, x, bytes, meter);
    parameters->clear_gradients();
  }
}

}  // namespace

void expect_stated_activations(const decoder::Model& model, const ActivationCase& given) {
  tensor::install_memory_meter();
  run_ranks(given.tensor_ranks, [&](collective::World& world) {
    at::set_num_threads(1);
    const auto meter = std::make_shared<tensor::Meter>();
    const tensor::MeterScope counted(meter);
    const mesh::Mesh mesh = value_or_throw(
        mesh::Mesh::create({{"dp_replicate", 1}, {"dp_shard", 1}, {"tp", given.tensor_ranks}}));
    tensor::Program program(mesh, world.rank(), [&](const auto& members, const std::string& name) {
      return world.group(members, name);
    });
    check(model, given, program, *meter);
  });
}

}  // namespace brigade::testing
