// SPDX-License-Identifier: Apache-2.0
/// Root-mean-square normalisation over the last dim (Zhang and Sennrich, 2019).
#pragma once

#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

/// y = x / sqrt(mean(x^2) + eps) * gain; x [..., d] with d not sharded, gain [d]. Saves one float
/// per row.
ShardedTensor rms_norm(const ShardedTensor& x, const ShardedTensor& gain, double eps);

}  // namespace brigade::tensor
