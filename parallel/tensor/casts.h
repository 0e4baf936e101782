// SPDX-License-Identifier: Apache-2.0
/// The casts between states of a tensor, as autograd nodes whose backward is the dual cast
/// (sharding/op_plan.h).
///
/// Collective: a cast that communicates is called by every rank of its axes' group, in program
///             order, forward and backward.
/// Errors:     the communicator's, thrown as Exception.
#pragma once

#include <string_view>

#include "parallel/tensor/planned.h"
#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

/// Runs planned casts one after another.
ShardedTensor cast(const ShardedTensor& tensor, const PlannedCasts& casts);

/// The same history without the forward's work: `result` is what the casts gave before. Of `tensor`
/// only the history counts.
ShardedTensor recast(const ShardedTensor& tensor,
                     const PlannedCasts& casts,
                     const at::Tensor& result);

/// `tensor` with another spec: plans, casts. Memoised by (type, spec, reason). The reason goes to
/// the ledger.
ShardedTensor reshard(const ShardedTensor& tensor,
                      const sharding::PartitionSpec& spec,
                      std::string_view reason);

}  // namespace brigade::tensor
