// SPDX-License-Identifier: Apache-2.0
/// Model: what a trainer asks of a family of decoders - its parameters, its counts, its stages.
///
///   const std::unique_ptr<const decoder::Model> model = loop::model_of(config);
///   auto facts = model->stage_facts(stage, stages);
///   auto runs = model->make_stage({.stage = stage, .stages = stages, ...}, program, parameters);
///
/// A family is a folder beside this one: its sizes, its facts, its stage and a Model of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/decoder/activation_bytes.h"
#include "models/decoder/residual_stream.h"
#include "parallel/base/result.h"
#include "parallel/executor/stage.h"
#include "parallel/sharding/parameter_facts.h"
#include "parallel/tensor/program.h"
#include "parallel/zero/parameter_set.h"

namespace brigade::decoder {

class Model {
 public:
  virtual ~Model() = default;

  /// Errors: kUsage for sizes that cannot be or do not divide over `tensor_ranks`, with those that
  /// would.
  virtual Result<void> check(int64_t tensor_ranks) const = 0;

  /// "dim 32, 4 layers, ...": for the lines at a run's start.
  virtual std::string description() const = 0;
  /// Blocks; stage s of S holds sharding::interval(layers(), s, S) of them.
  virtual int64_t layers() const = 0;
  /// A tied head counts once.
  virtual int64_t parameter_count() const = 0;
  /// Multiplications and additions of a forward and backward per trained token.
  virtual double flops_per_token(int64_t sequence) const = 0;
  /// Of one microbatch in training.
  virtual ModelActivations activations(const ActivationShape& shape) const = 0;

  /// All uses of parameters on one stage, in forward order.
  virtual std::vector<sharding::ParameterFacts> stage_facts(int64_t stage,
                                                            int64_t stages) const = 0;
  /// Names of the places that draw random numbers in every step, of all stages; empty where nothing
  /// is dropped.
  virtual std::vector<std::string> dropout_names() const = 0;

  /// Borrows `program` and `parameters` (of stage_facts).
  virtual std::unique_ptr<executor::Stage> make_stage(const StagePlace& place,
                                                      tensor::Program& program,
                                                      zero::ParameterSet& parameters) const = 0;
};

}  // namespace brigade::decoder
