// SPDX-License-Identifier: Apache-2.0
/// Ops of one operand that work element by element; shapes and specs stay.
///
///   ShardedTensor h = tanh(einsum("bd,dh->bh", x, w));
///
/// Collective: never, forward or backward.
/// Errors:     kType for an unfinished sum in an op that is not linear (reshard it first), for
///             elements that are no floats where floats are asked for. Thrown as Exception.
#pragma once

#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

// Of floats.
ShardedTensor exp(const ShardedTensor& x);
ShardedTensor log(const ShardedTensor& x);
ShardedTensor sqrt(const ShardedTensor& x);
ShardedTensor rsqrt(const ShardedTensor& x);
ShardedTensor reciprocal(const ShardedTensor& x);
ShardedTensor sin(const ShardedTensor& x);
ShardedTensor cos(const ShardedTensor& x);
ShardedTensor tanh(const ShardedTensor& x);
ShardedTensor sigmoid(const ShardedTensor& x);
ShardedTensor silu(const ShardedTensor& x);

/// x times the normal distribution's integral up to x: as it is, or by GPT-2's formula with tanh.
enum class GeluForm { kErf, kTanh };
ShardedTensor gelu(const ShardedTensor& x, GeluForm form);

/// x to a power that is the same for all elements.
ShardedTensor pow(const ShardedTensor& x, double exponent);

// Of any numbers.
ShardedTensor relu(const ShardedTensor& x);
ShardedTensor abs(const ShardedTensor& x);
ShardedTensor square(const ShardedTensor& x);
/// Linear: unfinished sums pass.
ShardedTensor negate(const ShardedTensor& x);

/// Other elements. From floats to floats unfinished sums pass; whole numbers and masks are held as
/// plain copies, since no gradient is owed to them.
ShardedTensor to(const ShardedTensor& x, DType dtype);

/// The same values, of any type, through which no gradient goes.
ShardedTensor stop_gradient(const ShardedTensor& x);

}  // namespace brigade::tensor
