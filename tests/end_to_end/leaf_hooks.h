// SPDX-License-Identifier: Apache-2.0
/// Changes gradients on their way from a backward into a ParameterSet.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <ATen/core/Tensor.h>

#include "trainer/loop/trainer.h"

namespace brigade::end_to_end {

/// Runs `body` while the weights of all units are whole, so that it can reach their leaves at every
/// ZeRO stage. Collective.
void with_whole_weights(loop::Trainer& trainer, const std::function<void()>& body);

/// `change` gets the gradient of each of this rank's backwards, counted from 0, and returns what is
/// to be used instead. Lasts as long as the trainer. Needs the weight to be whole.
void hook_gradient(loop::Trainer& trainer,
                   const std::string& parameter,
                   std::function<at::Tensor(const at::Tensor& gradient, int64_t backward)> change);

}  // namespace brigade::end_to_end
