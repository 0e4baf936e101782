// SPDX-License-Identifier: Apache-2.0
/// Tensors out of nothing: constants, indices, random values.
///
///   const TensorType type{DType::kFloat32, {64, 128}, PartitionSpec({{"data"}, {}})};
///   ShardedTensor x = random_normal(program, type, {.seed = 7, .name = "x"});
///
/// Every value is a function of the element's index in the global tensor, so a tensor is the same
/// on every mesh, in every type (law 5). Each rank makes its own piece; leaves without history.
///
/// Collective: never.
/// Errors:     kType for a type that is not legal on the program's mesh or that is unreduced (make
///             it replicated or sharded, then reshard), for an element type that cannot hold the
///             values. Thrown as Exception.
#pragma once

#include <cstdint>

#include "parallel/tensor/by_index.h"
#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

ShardedTensor full(Program& program, const sharding::TensorType& type, double value);
ShardedTensor zeros(Program& program, const sharding::TensorType& type);
ShardedTensor ones(Program& program, const sharding::TensorType& type);

/// Each element's index along `dim`.
ShardedTensor iota(Program& program, const sharding::TensorType& type, int64_t dim);

/// In [0, 1), of 24 random bits each.
ShardedTensor random_uniform(Program& program,
                             const sharding::TensorType& type,
                             const RandomSource& source);

/// Of mean 0 and deviation 1.
ShardedTensor random_normal(Program& program,
                            const sharding::TensorType& type,
                            const RandomSource& source);

}  // namespace brigade::tensor
