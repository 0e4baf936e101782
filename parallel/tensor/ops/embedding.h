// SPDX-License-Identifier: Apache-2.0
/// Table look-up.
#pragma once

#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

/// table [V, d] at tokens [...] -> [..., d]. Where V is sharded, each rank looks up what lies in
/// its interval and the result is unreduced over those axes: reshard() says what becomes of it.
///
/// Collective: backward only, where the table is replicated over axes that split the tokens.
/// Cost:       the all-reduce of the table's gradient over those axes; none for a table that is
///             Reduced over them, as a ParameterSet's weight is over the data axes. Tokens are
///             never cast.
/// Errors:     kType, as sharding::plan_embedding; the communicator's. Thrown as Exception.
ShardedTensor embedding(const ShardedTensor& table, const ShardedTensor& tokens);

}  // namespace brigade::tensor
