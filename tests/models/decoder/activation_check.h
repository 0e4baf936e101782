// SPDX-License-Identifier: Apache-2.0
/// A family's statement of its activations against what a meter counts, on the ranks of a mesh.
#pragma once

#include <cstdint>
#include <functional>

#include "models/decoder/model.h"
#include "parallel/collective/world.h"

namespace brigade::testing {

struct ActivationCase {
  int64_t batch = 2;
  int64_t sequence = 8;
  int64_t tensor_ranks = 1;
  bool sequence_parallel = false;
  DType dtype = DType::kFloat32;
};

/// Runs each unit forward and backward. After the forward, exactly what the family states must be
/// alive; in the backward never more than that with `working` and the gradients that it makes, and
/// half of `working` at least.
void expect_stated_activations(const decoder::Model& model, const ActivationCase& given);

}  // namespace brigade::testing
