// SPDX-License-Identifier: Apache-2.0
/// Parameter: what a ParameterSet holds for each row of facts. Internal to the module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
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
  size_t unit = 0;                       ///< its index
  Parameter* owner = nullptr;  ///< of a tied use: the parameter here whose storage it shares
  bool is_sharded = false;     ///< stored as own rows; whole only while its unit is

  at::Tensor master =
      {};  ///< [rows, ...] fp32, what an update changes: the updated rows; undefined for
           ///< a tied use
  at::Tensor stored =
      {};  ///< in the dtype of compute: the used box, or own rows if sharded; in fp32
           ///< the memory that `master` views
  tensor::ShardedTensor leaf = {};  ///< the used box as autograd sees it: `stored`, or, if sharded,
                                    ///< memory of its own while the unit is whole
  GradientSum sum;                  ///< over microbatches
  at::Tensor gradient = {};         ///< [rows, ...] fp32, of the updated rows: reduced

  // While its unit is being reduced, in the dtype of the wire:
  at::Tensor terms = {};   ///< of the used box
  at::Tensor result = {};  ///< own rows; at stages 0 and 1 a view of `terms`

  bool is_tied() const { return !facts->tied_to.empty(); }
};

/// Why a sharded parameter cannot be read now.
std::string not_gathered(const sharding::ParameterFacts& facts);

/// Rows [begin, end) of dim 0, a view; a scalar is one row.
at::Tensor rows_of(const at::Tensor& whole, const sharding::Interval& rows);

}  // namespace brigade::zero
