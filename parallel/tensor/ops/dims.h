// SPDX-License-Identifier: Apache-2.0
/// Dims counted from the end, as -1 for the last, counted from the front. One that is not there is
/// left as it is, for the planner to name.
#pragma once

#include <cstdint>

#include <c10/util/ArrayRef.h>
#include <c10/util/SmallVector.h>

#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

using Dims = c10::SmallVector<int64_t, 8>;

inline int64_t from_front(const ShardedTensor& x, int64_t dim) {
  return dim < 0 ? dim + static_cast<int64_t>(x.type().global.size()) : dim;
}

inline Dims from_front(const ShardedTensor& x, at::IntArrayRef dims) {
  Dims result;
  for (const int64_t dim : dims) {
    result.push_back(from_front(x, dim));
  }
  return result;
}

inline Dims all_dims(const ShardedTensor& x) {
  Dims result;
  for (size_t dim = 0; dim < x.type().global.size(); ++dim) {
    result.push_back(static_cast<int64_t>(dim));
  }
  return result;
}

}  // namespace brigade::tensor
