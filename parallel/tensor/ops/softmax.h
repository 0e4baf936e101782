// SPDX-License-Identifier: Apache-2.0
/// Softmax and its relatives over one dim, split or whole.
///
/// Where the dim is whole, libtorch's own. Where it is split, composed: the largest element of all
/// ranks is subtracted, the exponentials are summed over all ranks. The result is that of a whole
/// dim up to the order of the sum; uneven and empty pieces are fine.
///
/// Shape:      softmax and log_softmax keep x's type; logsumexp drops `dim`, or keeps it at size 1.
/// Collective: where the dim is split, two all-reduces forward, of one element per row each; one
///             backward for softmax and log_softmax, none for logsumexp.
/// Errors:     kType for an unfinished sum, for elements that are no floats; the communicator's.
///             Thrown as Exception.
#pragma once

#include <cstdint>

#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

ShardedTensor softmax(const ShardedTensor& x, int64_t dim);
ShardedTensor log_softmax(const ShardedTensor& x, int64_t dim);
ShardedTensor logsumexp(const ShardedTensor& x, int64_t dim, bool keep_dim = false);

}  // namespace brigade::tensor
