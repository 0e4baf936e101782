// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/map.h"

#include <ATen/ATen.h>

#include "parallel/base/text.h"
#include "parallel/sharding/type_rule.h"
#include "parallel/tensor/buffers.h"
#include "parallel/tensor/program.h"

namespace brigade::tensor {

using sharding::TensorType;

void check_map(std::initializer_list<const ShardedTensor*> operands) {
  const ShardedTensor& first = **operands.begin();
  const mesh::Mesh& mesh = first.program().mesh();
  if (!first.type().spec.unreduced().empty()) {
    throw Exception({ErrorCode::kType,
                     concat("map: ",
                            first.type().to_string(mesh),
                            " holds an unfinished sum; reshard it to finish the sum"),
                     -1,
                     sharding::rule::kUnreduced});
  }
  for (const ShardedTensor* operand : operands) {
    const TensorType& type = operand->type();
    if (type.global != first.type().global || type.spec != first.type().spec) {
      throw Exception({ErrorCode::kType,
                       concat("map: expected operands of one shape and spec, found ",
                              first.type().to_string(mesh),
                              " and ",
                              type.to_string(mesh),
                              "; reshard one of them"),
                       -1,
                       sharding::rule::kUnequalOperands});
    }
  }
}

ShardedTensor finish_map(const ShardedTensor& operand, const at::Tensor& local) {
  if (local.sizes() != operand.local().sizes()) {
    throw Exception({ErrorCode::kType,
                     concat("map: expected a local result of shape (",
                            join(operand.local().sizes()),
                            "), as the operands have, found (",
                            join(local.sizes()),
                            "); work on parts of other shapes in shard_map"),
                     -1,
                     sharding::rule::kBufferShape});
  }
  const TensorType type{dtype_of(local), operand.type().global, operand.type().spec};
  return ShardedTensor(operand.program(), type, local);
}

}  // namespace brigade::tensor
