// SPDX-License-Identifier: Apache-2.0
/// Step: the state of one run over an action list, and what each kind of action does. Internal to
/// the module; the executor drives it and catches what it throws.
#pragma once

#include <cstdint>
#include <vector>

#include "parallel/executor/agreement.h"
#include "parallel/executor/executor.h"
#include "parallel/executor/messages.h"
#include "parallel/tensor/kept_products.h"

namespace brigade::executor {

class Step {
 public:
  /// `update` is null in an evaluation, which keeps no history. All are borrowed.
  Step(const Context& context,
       const std::vector<schedule::Action>& actions,
       const Batch& batch,
       const Update* update);

  /// Does actions[index]; called for each, in order. Throws.
  void perform(size_t index);

  /// After the last action: waits for what was sent. Throws.
  void finish();

  /// Of a training step, after kGradientNorm.
  const StepResult& result() const { return result_; }
  const ExactSum& loss() const { return terms_.loss; }

 private:
  /// A unit of a microbatch between its forward and its backward.
  struct UnitInFlight {
    tensor::ShardedTensor input;    ///< a leaf; undefined for the first unit of the first stage
    tensor::ShardedTensor output;   ///< with its history; undefined where that is computed again
    tensor::KeptProducts products;  ///< of a unit that keeps them
  };

  struct InFlight {
    std::vector<UnitInFlight> units;
    tensor::ShardedTensor
        activation;  ///< of the unit done last, without history; at first what was
                     ///< received, at last what is sent
    at::TensorOptions output_options;  ///< of the last unit's, once it is done
    std::vector<int64_t> output_sizes;
    at::Tensor gradient;  ///< received, then handed from unit to unit, then sent
  };

  InFlight& in_flight(const schedule::Action& action);
  const Microbatch& microbatch(const schedule::Action& action) const;
  bool trains() const { return update_ != nullptr; }

  void post_receives();
  /// What `action` receives, empty; undefined while the shape is not known yet.
  at::Tensor receive_buffer(const schedule::Action& action);

  void receive_activation(const schedule::Action& action);
  void receive_gradient(const schedule::Action& action);
  void send_activation(const schedule::Action& action);
  void send_gradient(const schedule::Action& action);
  void forward(const schedule::Action& action);
  void backward(const schedule::Action& action);
  /// Its forward, first or again; `mode`: what happens to the products of a unit that keeps them.
  tensor::ShardedTensor run_unit(const schedule::Action& action,
                                 UnitInFlight& unit,
                                 tensor::ProductScope::Mode mode);
  Keep keep(const schedule::Action& action) const;
  /// The parameters' index of a unit of the stage.
  size_t parameters_of(const schedule::Action& action) const;
  bool ends_model(const schedule::Action& action) const;
  void add_losses(const at::Tensor& losses);
  void exchange_tied();
  void measure();
  void update();
  void gather();

  const Context& context_;
  const std::vector<schedule::Action>& actions_;
  const Batch& batch_;
  const Update* update_;
  Messages messages_;
  std::vector<size_t> units_;  // index among the parameters' units, of each unit of the stage
  size_t next_receive_ = 0;    // the first action that may still be a receive to post
  std::vector<InFlight> in_flight_;
  LocalTerms terms_;
  StepResult result_;
};

}  // namespace brigade::executor
