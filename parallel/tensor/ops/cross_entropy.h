// SPDX-License-Identifier: Apache-2.0
/// Cross-entropy over a vocabulary that may be sharded.
#pragma once

#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

/// logits [..., V], targets [...] (ids, -1 = not trained) -> losses [...], fp32: log sum exp -
/// logit of the target, 0 where not trained. Not divided by anything: the caller seeds backward
/// with one over the trained tokens (law 3).
///
/// Collective: where V is sharded, over its axes, forward only.
/// Cost:       two all-reduces per call, of one float (the maximum) and of two floats (the sum and
///             the target's logit) per token; none backward.
/// Errors:     kType where targets are not placed as the rows of the logits or a sum is
///             unfinished; the communicator's. Thrown as Exception.
ShardedTensor cross_entropy(const ShardedTensor& logits, const ShardedTensor& targets);

}  // namespace brigade::tensor
