// SPDX-License-Identifier: Apache-2.0
/// TypeRecord: a type together with what one rank needs of it, made once per program.
///
/// Records are interned (Program::record): equal types have one record, so an op compares and
/// hashes types by address and copies none.
#pragma once

#include "parallel/sharding/tensor_type.h"

namespace brigade::tensor {

struct TypeRecord {
  sharding::TensorType type;
  sharding::Shape local_shape;  ///< of the piece on the program's rank
};

}  // namespace brigade::tensor
