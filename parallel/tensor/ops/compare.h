// SPDX-License-Identifier: Apache-2.0
/// Comparisons, logic on masks, and choice by a mask; shapes equal, or broadcast from the right.
///
///   ShardedTensor clipped = where(less(x, 0.0), zeros(program, x.type()), x);
///
/// A mask is a tensor of bool. No gradient leads through one, so masks need no casts for their
/// copies and any may stand beside any other.
///
/// Collective: where() backward as elementwise.h; nothing else.
/// Errors:     kType, as sharding::plan_elementwise, and for logic on what is no mask. Thrown as
///             Exception.
#pragma once

#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

ShardedTensor equal(const ShardedTensor& a, const ShardedTensor& b);
ShardedTensor not_equal(const ShardedTensor& a, const ShardedTensor& b);
ShardedTensor less(const ShardedTensor& a, const ShardedTensor& b);
ShardedTensor less_equal(const ShardedTensor& a, const ShardedTensor& b);
ShardedTensor greater(const ShardedTensor& a, const ShardedTensor& b);
ShardedTensor greater_equal(const ShardedTensor& a, const ShardedTensor& b);

ShardedTensor equal(const ShardedTensor& a, double b);
ShardedTensor not_equal(const ShardedTensor& a, double b);
ShardedTensor less(const ShardedTensor& a, double b);
ShardedTensor less_equal(const ShardedTensor& a, double b);
ShardedTensor greater(const ShardedTensor& a, double b);
ShardedTensor greater_equal(const ShardedTensor& a, double b);

ShardedTensor logical_and(const ShardedTensor& a, const ShardedTensor& b);
ShardedTensor logical_or(const ShardedTensor& a, const ShardedTensor& b);
ShardedTensor logical_not(const ShardedTensor& a);

/// a where `mask`, b elsewhere. Linear in a and b together: equal unreduced sets pass, by a mask
/// that is equal on all their ranks.
ShardedTensor where(const ShardedTensor& mask, const ShardedTensor& a, const ShardedTensor& b);

}  // namespace brigade::tensor
