// SPDX-License-Identifier: Apache-2.0
/// Dropout (Srivastava et al., 2014), the same on every mesh.
#pragma once

#include <cstdint>
#include <optional>

#include "parallel/tensor/by_index.h"
#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

/// Sets each element to zero with probability `rate`, in [0, 1), and scales the others by
/// 1 / (1 - rate). Which, is a function of seed, name, step and the element's index in the global
/// tensor (law 5): equal bits on every mesh. The backward drops the same elements. Saves one byte
/// per element; does nothing at rate 0.
///
/// `first_row`: where dim 0 of x is this rank's part of a larger tensor, its first row there, in
/// place of the one that the type says; not where dim 0 splits over axes that the part is of.
///
/// Linear: unfinished sums pass, since all their terms lose the same elements.
/// Collective: never.
/// Errors:     kUsage for another rate; kType for elements that are no floats. Thrown as Exception.
ShardedTensor dropout(const ShardedTensor& x,
                      double rate,
                      const RandomSource& source,
                      std::optional<int64_t> first_row = {});

}  // namespace brigade::tensor
