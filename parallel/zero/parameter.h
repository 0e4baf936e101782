// SPDX-License-Identifier: Apache-2.0
/// Parameter: what a ParameterSet holds for each row of facts. Internal to the module.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "parallel/sharding/parameter_facts.h"
#include "parallel/tensor/sharded_tensor.h"
#include "parallel/zero/gradient_sum.h"
#include "parallel/zero/placement.h"

namespace brigade::zero {

struct Parameter {
  const sharding::ParameterFacts* facts = nullptr;
  Placement placement;
  std::vector<sharding::Interval> rows;  ///< of each data-shard member, within the used box
  int64_t member = 0;                    ///< this rank among them
  bool is_counted = false;               ///< this rank's rows count in sums over all ranks
  Parameter* owner = nullptr;  ///< of a tied use: the parameter here whose storage it shares

  at::Tensor data;             ///< the used box, contiguous, without history
  tensor::ShardedTensor leaf;  ///< the same memory, as autograd sees it
  GradientSum sum;             ///< over microbatches
  at::Tensor gradient;  ///< of the used box, fp32, from reduce() on; at stage 1 only own rows
                        ///< are complete

  bool is_tied() const { return !facts->tied_to.empty(); }
};

/// Rows [begin, end) of dim 0, a view; a scalar is one row.
at::Tensor rows_of(const at::Tensor& whole, const sharding::Interval& rows);

}  // namespace brigade::zero
