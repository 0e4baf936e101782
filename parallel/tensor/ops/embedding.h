// SPDX-License-Identifier: Apache-2.0
/// Table look-up.
#pragma once

#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

/// table [V, d] at tokens [...] -> [..., d]. Where V is sharded, each rank looks up what lies in
/// its interval and the result is unreduced over those axes: reshard() says what becomes of it.
ShardedTensor embedding(const ShardedTensor& table, const ShardedTensor& tokens);

}  // namespace brigade::tensor
