// SPDX-License-Identifier: Apache-2.0
#include "parallel/executor/step.h"

#include <optional>
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
      in_flight_(batch.microbatches.size()) {
  for (const std::string& unit : context.stage->units()) {
    units_.push_back(context.parameters->unit(unit));
  }
  for (InFlight& flight : in_flight_) {
    flight.units.resize(units_.size());
  }
}

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
    case ActionKind::kUnshard: return context_.parameters->unshard(parameters_of(action));
    case ActionKind::kReshard: return context_.parameters->reshard(parameters_of(action));
    case ActionKind::kReduceUnit:
      return value_or_throw(context_.parameters->reduce(parameters_of(action)));
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

size_t Step::parameters_of(const Action& action) const {
  const auto unit = static_cast<size_t>(action.unit);
  BRIGADE_CHECK(unit < units_.size(), "an action of no unit:", schedule::to_string(action));
  return units_[unit];
}

Keep Step::keep(const Action& action) const {
  return context_.keep.empty() || !trains() ? Keep::kAll
                                            : context_.keep[static_cast<size_t>(action.unit)];
}

bool Step::ends_model(const Action& action) const {
  return context_.stage->is_last() && static_cast<size_t>(action.unit) + 1 == units_.size();
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
    const InFlight& flight = in_flight(action);
    return flight.output_sizes.empty() ? at::Tensor()
                                       : at::empty(flight.output_sizes, flight.output_options);
  }
  const at::Tensor& tokens = microbatch(action).tokens;
  const sharding::TensorType type = context_.stage->input_type(tokens.size(0), tokens.size(1));
  return at::empty(tensor::local_shape(*context_.program, type),
                   tensor::scalar_type_of(type.dtype));
}

void Step::receive_activation(const Action& action) {
  const at::Tensor& tokens = microbatch(action).tokens;
  in_flight(action).activation =
      tensor::ShardedTensor(*context_.program,
                            context_.stage->input_type(tokens.size(0), tokens.size(1)),
                            messages_.take());
}

void Step::receive_gradient(const Action& action) {
  BRIGADE_CHECK(messages_.posted_receives() > 0, schedule::to_string(action));
  in_flight(action).gradient = messages_.take();
}

void Step::send_activation(const Action& action) {
  const tensor::ShardedTensor output = std::exchange(in_flight(action).activation, {});
  messages_.send(output.local(), action.peer, tag_of(action, Direction::kActivation));
}

void Step::send_gradient(const Action& action) {
  messages_.send(std::exchange(in_flight(action).gradient, {}),
                 action.peer,
                 tag_of(action, Direction::kGradient));
}

void Step::forward(const Action& action) {
  value_or_throw(context_.parameters->wait_whole(parameters_of(action)));
  InFlight& flight = in_flight(action);
  UnitInFlight& unit = flight.units[static_cast<size_t>(action.unit)];
  const bool begins_model = context_.stage->is_first() && action.unit == 0;
  BRIGADE_CHECK(flight.activation.defined() != begins_model, schedule::to_string(action));
  if (!begins_model) {
    const tensor::ShardedTensor& input = flight.activation;
    unit.input = tensor::ShardedTensor(
        *context_.program, &input.record(), input.local().detach().requires_grad_(trains()));
  }
  tensor::ShardedTensor output;
  {
    const c10::AutoGradMode history(trains() && keep(action) == Keep::kAll);
    output = run_unit(action, unit, tensor::ProductScope::Mode::kKeep);
  }
  if (ends_model(action)) {
    add_losses(output.local());
    flight.activation = {};
  } else {
    flight.activation =
        tensor::ShardedTensor(*context_.program, &output.record(), output.local().detach());
  }
  if (static_cast<size_t>(action.unit) + 1 == units_.size()) {
    flight.output_sizes = output.local().sizes().vec();
    flight.output_options = output.local().options().requires_grad(false);
  }
  if (!trains()) {
    unit = {};
  } else if (keep(action) == Keep::kAll) {
    unit.output = output;
  }
}

tensor::ShardedTensor Step::run_unit(const Action& action,
                                     UnitInFlight& unit,
                                     tensor::ProductScope::Mode mode) {
  std::optional<tensor::ProductScope> products;
  if (keep(action) == Keep::kProducts) {
    products.emplace(*context_.program, unit.products, mode);
  }
  return context_.stage->forward(static_cast<size_t>(action.unit), microbatch(action), unit.input);
}

void Step::backward(const Action& action) {
  const size_t parameters = parameters_of(action);
  value_or_throw(context_.parameters->wait_whole(parameters));
  InFlight& flight = in_flight(action);
  UnitInFlight unit = std::exchange(flight.units[static_cast<size_t>(action.unit)], {});
  const at::Tensor output =
      (keep(action) == Keep::kAll ? std::exchange(unit.output, {})
                                  : run_unit(action, unit, tensor::ProductScope::Mode::kReuse))
          .local();
  at::Tensor gradient = std::exchange(flight.gradient, {});
  if (ends_model(action)) {
    // The one division of the loss (law 3).
    gradient = at::full_like(output, 1.0 / static_cast<double>(batch_.trained_tokens));
  }
  torch::autograd::backward({output}, {gradient});
  context_.parameters->accumulate(
      parameters, action.microbatch.value(), static_cast<int64_t>(batch_.microbatches.size()));
  if (unit.input.defined()) {
    const at::Tensor input = unit.input.local();
    flight.gradient = input.grad().defined() ? input.grad() : at::zeros_like(input);
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
