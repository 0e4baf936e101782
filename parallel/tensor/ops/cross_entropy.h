// SPDX-License-Identifier: Apache-2.0
/// Cross-entropy over a vocabulary that may be sharded.
#pragma once

#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

/// logits [..., V], targets [...] (ids, -1 = not trained) -> losses [...], fp32: log sum exp -
/// logit of the target, 0 where not trained. Not divided by anything: the caller seeds backward
/// with one over the trained tokens (law 3). Cost: where V is sharded over axes, one all-reduce
/// (max) and one (sum of two floats) per token; none backward.
ShardedTensor cross_entropy(const ShardedTensor& logits, const ShardedTensor& targets);

}  // namespace brigade::tensor
