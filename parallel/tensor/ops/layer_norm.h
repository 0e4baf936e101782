// SPDX-License-Identifier: Apache-2.0
/// Layer normalisation over the last dim (Ba, Kiros and Hinton, 2016).
#pragma once

#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

/// y = (x - mean) / sqrt(variance + eps) * weight + bias, of rows of x [..., d] with d not sharded;
/// weight and bias [d], the bias may be left out.
///
/// Collective: backward only, where weight or bias is replicated over axes that split x.
/// Cost:       the all-reduce of their gradients, d elements each, over those axes; none for what
///             is Reduced over them, as a ParameterSet's weights are over the data axes.
/// Errors:     kType where d is sharded or x holds an unfinished sum, else as
///             sharding::plan_elementwise; the communicator's. Thrown as Exception.
ShardedTensor layer_norm(const ShardedTensor& x,
                         const ShardedTensor& weight,
                         const ShardedTensor& bias,
                         double eps);
ShardedTensor layer_norm(const ShardedTensor& x, const ShardedTensor& weight, double eps);

}  // namespace brigade::tensor
