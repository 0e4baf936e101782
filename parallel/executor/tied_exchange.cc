// SPDX-License-Identifier: Apache-2.0
#include "parallel/executor/tied_exchange.h"

#include <algorithm>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "parallel/base/philox.h"

namespace brigade::executor {
namespace {

using sharding::ParameterFacts;

constexpr int64_t kOwnerStage = 0;

/// Apart from the tags of microbatches by its top bit.
collective::Tag tag_of(const std::string& owner) {
  return random_stream("tied", owner) | (collective::Tag{1} << 63);
}

/// Uses on this stage whose owner is on another.
std::vector<const ParameterFacts*> uses_elsewhere(const Context& context) {
  const std::vector<ParameterFacts>& facts = context.parameters->facts();
  std::vector<const ParameterFacts*> uses;
  for (const ParameterFacts& use : facts) {
    const bool owner_is_here =
        use.tied_to.empty() || std::any_of(facts.begin(), facts.end(), [&](const auto& other) {
          return other.name == use.tied_to;
        });
    if (!owner_is_here) {
      uses.push_back(&use);
    }
  }
  return uses;
}

at::Tensor receive_like(const at::Tensor& tensor,
                        Messages& messages,
                        int64_t peer,
                        collective::Tag tag) {
  messages.post_receive(at::empty_like(tensor), peer, tag);
  return messages.take();
}

}  // namespace

void send_tied_gradients(const Context& context, Messages& messages) {
  const c10::NoGradGuard no_history;
  for (const ParameterFacts* use : uses_elsewhere(context)) {
    messages.send(
        context.parameters->reduced_gradient(use->name), kOwnerStage, tag_of(use->tied_to));
  }
  for (const std::string& owned : context.tied_owned) {
    const int64_t last_stage = context.pipeline->size() - 1;
    at::Tensor gradient = context.parameters->reduced_gradient(owned);
    gradient.add_(receive_like(gradient, messages, last_stage, tag_of(owned)));
  }
}

void send_tied_weights(const Context& context, Messages& messages) {
  const c10::NoGradGuard no_history;
  for (const std::string& owned : context.tied_owned) {
    const int64_t last_stage = context.pipeline->size() - 1;
    messages.send(context.parameters->stored_weight(owned), last_stage, tag_of(owned));
  }
  for (const ParameterFacts* use : uses_elsewhere(context)) {
    at::Tensor weight = context.parameters->stored_weight(use->name);
    weight.copy_(receive_like(weight, messages, kOwnerStage, tag_of(use->tied_to)));
  }
}

}  // namespace brigade::executor
