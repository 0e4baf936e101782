// SPDX-License-Identifier: Apache-2.0
/// Root-mean-square normalisation over the last dim (Zhang and Sennrich, 2019).
#pragma once

#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

/// y = x / sqrt(mean(x^2) + eps) * gain; x [..., d] with d not sharded, gain [d]. Saves one float
/// per row.
///
/// Collective: backward only, where gain is replicated over axes that split x.
/// Cost:       the all-reduce of gain's gradient, d elements, over those axes; none for a gain that
///             is Reduced over them, as a ParameterSet's weight is over the data axes.
/// Errors:     kType where d is sharded or x holds an unfinished sum, else as
///             sharding::plan_elementwise; the communicator's. Thrown as Exception.
ShardedTensor rms_norm(const ShardedTensor& x, const ShardedTensor& gain, double eps);

}  // namespace brigade::tensor
