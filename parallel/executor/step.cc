// SPDX-License-Identifier: Apache-2.0
#include "parallel/executor/step.h"

#include <utility>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "parallel/executor/tied_exchange.h"
#include "parallel/tensor/buffers.h"
#include "parallel/tensor/program.h"

namespace brigade::executor {
namespace {

using schedule::Action;
using schedule::ActionKind;

/// How many receives are posted ahead of their actions: the next two, one per direction in 1F1B.
constexpr size_t kReceiveWindow = 2;

enum class Direction : uint8_t { kActivation = 0, kGradient = 1 };

collective::Tag tag_of(const Action& action, Direction direction) {
  // The stage that sends, so that two stages on one rank would not cross messages.
  const StageId sender = schedule::message_of(action).stage;
  return (static_cast<collective::Tag>(sender.value()) << 40) +
         static_cast<collective::Tag>(action.microbatch.value()) * 2 +
         static_cast<collective::Tag>(direction);
}

}  // namespace

Step::Step(const Context& context,
           const std::vector<Action>& actions,
           const Batch& batch,
           const Update* update)
    : context_(context),
      actions_(actions),
      batch_(batch),
      update_(update),
      messages_(context.pipeline),
      in_flight_(batch.microbatches.size()) {}

void Step::perform(size_t index) {
  const c10::AutoGradMode history(trains());
  messages_.poll();
  post_receives();
  const Action& action = actions_[index];
  switch (action.kind) {
    case ActionKind::kForward: return forward(action);
    case ActionKind::kBackward: return backward(action);
    case ActionKind::kSendActivation: return send_activation(action);
    case ActionKind::kReceiveActivation: return receive_activation(action);
    case ActionKind::kSendGradient: return send_gradient(action);
    case ActionKind::kReceiveGradient: return receive_gradient(action);
    case ActionKind::kReduceGradients: return value_or_throw(context_.parameters->reduce());
    case ActionKind::kExchangeTied: return exchange_tied();
    case ActionKind::kGradientNorm: return measure();
    case ActionKind::kOptimizerStep: return update();
    case ActionKind::kGatherParameters: return gather();
  }
}

void Step::finish() {
  messages_.finish_sends();
}

Step::InFlight& Step::in_flight(const Action& action) {
  const auto index = static_cast<size_t>(action.microbatch.value());
  BRIGADE_CHECK(index < in_flight_.size(), schedule::to_string(action), in_flight_.size());
  return in_flight_[index];
}

const Microbatch& Step::microbatch(const Action& action) const {
  const auto index = static_cast<size_t>(action.microbatch.value());
  BRIGADE_CHECK(
      index < batch_.microbatches.size(), schedule::to_string(action), batch_.microbatches.size());
  return batch_.microbatches[index];
}

void Step::post_receives() {
  while (messages_.posted_receives() < kReceiveWindow) {
    while (next_receive_ < actions_.size() && !schedule::is_receive(actions_[next_receive_].kind)) {
      ++next_receive_;
    }
    if (next_receive_ == actions_.size()) {
      return;
    }
    const Action& action = actions_[next_receive_];
    at::Tensor buffer = receive_buffer(action);
    if (!buffer.defined()) {
      return;
    }
    const bool activation = action.kind == ActionKind::kReceiveActivation;
    messages_.post_receive(
        std::move(buffer),
        action.peer,
        tag_of(action, activation ? Direction::kActivation : Direction::kGradient));
    ++next_receive_;
  }
}

at::Tensor Step::receive_buffer(const Action& action) {
  if (action.kind == ActionKind::kReceiveGradient) {
    // The dual type has the local shape and dtype of the output, which its forward makes known.
    const tensor::ShardedTensor& output = in_flight(action).output;
    return output.defined() ? at::empty(output.local().sizes(), output.local().scalar_type())
                            : at::Tensor();
  }
  const at::Tensor& tokens = microbatch(action).tokens;
  const sharding::TensorType type = context_.stage->input_type(tokens.size(0), tokens.size(1));
  return at::empty(tensor::local_shape(*context_.program, type),
                   tensor::scalar_type_of(type.dtype));
}

void Step::receive_activation(const Action& action) {
  const at::Tensor& tokens = microbatch(action).tokens;
  in_flight(action).input =
      tensor::ShardedTensor(*context_.program,
                            context_.stage->input_type(tokens.size(0), tokens.size(1)),
                            messages_.take().requires_grad_(trains()));
}

void Step::receive_gradient(const Action& action) {
  BRIGADE_CHECK(messages_.posted_receives() > 0, schedule::to_string(action));
  in_flight(action).output_gradient = messages_.take();
}

void Step::send_activation(const Action& action) {
  InFlight& flight = in_flight(action);
  messages_.send(flight.output.local(), action.peer, tag_of(action, Direction::kActivation));
  if (!trains()) {
    flight = {};
  }
}

void Step::send_gradient(const Action& action) {
  InFlight& flight = in_flight(action);
  messages_.send(flight.input_gradient, action.peer, tag_of(action, Direction::kGradient));
  flight = {};
}

void Step::forward(const Action& action) {
  InFlight& flight = in_flight(action);
  BRIGADE_CHECK(flight.input.defined() != context_.stage->is_first(), schedule::to_string(action));
  flight.output = context_.stage->forward(microbatch(action), flight.input);
  if (context_.stage->is_last()) {
    add_losses(flight.output.local());
    if (!trains()) {
      flight = {};
    }
  }
}

void Step::backward(const Action& action) {
  InFlight& flight = in_flight(action);
  const at::Tensor output = std::exchange(flight.output, {}).local();
  at::Tensor gradient = std::exchange(flight.output_gradient, {});
  if (context_.stage->is_last()) {
    // The one division of the loss (law 3).
    gradient = at::full_like(output, 1.0 / static_cast<double>(batch_.trained_tokens));
  }
  torch::autograd::backward({output}, {gradient});
  context_.parameters->accumulate(action.microbatch.value(),
                                  static_cast<int64_t>(batch_.microbatches.size()));
  if (flight.input.defined()) {
    const at::Tensor input = std::exchange(flight.input, {}).local();
    flight.input_gradient = input.grad().defined() ? input.grad() : at::zeros_like(input);
  }
}

void Step::add_losses(const at::Tensor& losses) {
  if (!context_.counts_loss) {
    return;
  }
  const at::Tensor values = losses.detach().to(at::kCPU, at::kFloat).contiguous();
  const float* terms = values.data_ptr<float>();
  for (int64_t i = 0; i < values.numel(); ++i) {
    terms_.loss.add(static_cast<double>(terms[i]));
  }
}

void Step::exchange_tied() {
  context_.parameters->add_tied();
  send_tied_gradients(context_, messages_);
}

void Step::measure() {
  const int64_t bad = context_.parameters->add_squares(terms_.squares);
  if (bad >= 0) {
    const auto& facts = context_.parameters->facts();
    terms_.bad_gradient = concat("gradient of ", facts[static_cast<size_t>(bad)].name);
    const int64_t stage = context_.pipeline == nullptr ? 0 : context_.pipeline->rank();
    constexpr int64_t kParametersPerStage = int64_t{1} << 24;
    terms_.bad_position = stage * kParametersPerStage + bad;
  }
  result_ = agree(*context_.world, terms_, batch_.trained_tokens);
}

void Step::update() {
  if (result_.finite) {
    value_or_throw((*update_)(result_));
  }
  context_.parameters->clear_gradients();
}

void Step::gather() {
  if (result_.finite) {
    value_or_throw(context_.parameters->gather());
    send_tied_weights(context_, messages_);
  }
}

}  // namespace brigade::executor
