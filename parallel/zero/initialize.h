// SPDX-License-Identifier: Apache-2.0
/// initialize: a box of a parameter's first values, each a function of seed, name and place in the
/// global tensor (law 5).
///
///   initialize(facts, placement.used.box(facts.shape, rank), seed, weight);   // equal on any mesh
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "parallel/sharding/interval.h"
#include "parallel/sharding/parameter_facts.h"

namespace brigade::zero {

/// Fills `out`, contiguous and of `box`'s shape, any floating dtype; values are made in fp32 and
/// rounded once. The stream is that of facts.tied_to if set: a use starts as its owner.
void initialize(const sharding::ParameterFacts& facts,
                const sharding::Box& box,
                uint64_t seed,
                const at::Tensor& out);

}  // namespace brigade::zero
