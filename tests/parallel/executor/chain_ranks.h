// SPDX-License-Identifier: Apache-2.0
/// A chain of tiny layers over pipeline x data ranks that are threads: the smallest model with a
/// first, a middle and a last stage, and a tied head.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "parallel/collective/world.h"
#include "parallel/executor/executor.h"
#include "parallel/schedule/units.h"
#include "parallel/tensor/program.h"
#include "parallel/zero/parameter_set.h"

namespace brigade::executor {

struct ChainSetup {
  int64_t stages = 1;
  int64_t data = 1;
  int64_t microbatches = 1;  ///< of one data rank
  schedule::Kind kind = schedule::Kind::kOneForwardOneBackward;
  int zero_stage = 0;
  bool tied = false;
  schedule::UnitPlan plan = {};  ///< but for the units of each stage
  std::vector<Keep> keep = {};

  std::string to_string() const;
};

/// Layers of the chain, each [kWidth, kWidth]; divided evenly over 1, 2 or 4 stages.
inline constexpr int64_t kLayers = 4;
inline constexpr int64_t kWidth = 6;
inline constexpr int64_t kVocabulary = 9;
inline constexpr int64_t kSequence = 5;

/// embed -> tanh(x·w) per layer -> logits by head -> token losses.
class ChainStage : public Stage {
 public:
  ChainStage(tensor::Program& program,
             zero::ParameterSet& parameters,
             int64_t stage,
             ChainSetup setup);

  bool is_first() const override { return stage_ == 0; }
  bool is_last() const override { return stage_ == setup_.stages - 1; }
  sharding::TensorType input_type(int64_t batch, int64_t sequence) const override;
  const std::vector<std::string>& units() const override { return units_; }
  tensor::ShardedTensor forward(size_t unit,
                                const Microbatch& microbatch,
                                const tensor::ShardedTensor& activation) override;

 private:
  const at::Tensor& weight(const std::string& name) const;

  tensor::Program& program_;
  zero::ParameterSet& parameters_;
  int64_t stage_;
  ChainSetup setup_;
  std::vector<std::string> units_;
};

/// Everything that one rank of a ChainSetup has.
struct Rank {
  ChainSetup setup;
  collective::World& world;
  int64_t stage = 0;
  int64_t data_rank = 0;
  tensor::Program program;
  std::unique_ptr<collective::Communicator> pipeline;
  std::unique_ptr<collective::Communicator> everyone;
  std::unique_ptr<zero::ParameterSet> parameters;
  std::unique_ptr<Stage> model;
  std::vector<schedule::Action> actions;
  std::vector<schedule::Action> evaluation;

  Rank(ChainSetup given, collective::World& world);
  Context context();
  Batch batch() const;
};

/// Runs `body` on every rank; ranks of one stage are neighbours.
void on_chain(const ChainSetup& setup, const std::function<void(Rank&)>& body);

/// The whole global batch, cut alike for equal data x microbatches.
std::vector<Microbatch> global_batch(int64_t microbatches);
int64_t trained_tokens(const std::vector<Microbatch>& microbatches);

/// By name: a parameter's whole gradient or weight (tied uses left out).
using Tensors = std::map<std::string, at::Tensor>;

/// The chain by plain autograd on whole tensors, no executor: loss, gradients and their norm over
/// the global batch, given the weights.
struct Outcome {
  double loss = 0.0;
  double norm = 0.0;
  Tensors gradients;
};
Outcome plain_outcome(const Tensors& weights, int64_t microbatches, bool tied);

/// The start of every run's weights.
Tensors initial_weights(bool tied);

/// An Update that steps by plain gradient descent.
Update descend(Rank& rank, double rate);

}  // namespace brigade::executor
