// SPDX-License-Identifier: Apache-2.0
/// HeldEntries: which entries of a table's dim a rank holds, and global indices as its own.
///
///   const HeldEntries held(program, planned.inputs[1], table, 0);
///   const LocalIndices local = held.localize("take", indices);
///   rows = at::index_select(held.with_an_entry(piece, 0), 0, local.indices);
///   // then zeros where local.outside
#pragma once

#include <string_view>

#include <ATen/core/Tensor.h>

#include "parallel/sharding/interval.h"
#include "parallel/tensor/planned.h"
#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

struct LocalIndices {
  at::Tensor indices;  ///< into the rank's piece; 0 where another rank holds the entry
  at::Tensor outside;  ///< true there; undefined if the rank holds all entries
};

/// Errors: kData for indices outside [0, `bound`), naming the op. Thrown as Exception.
void check_indices(std::string_view op, const at::Tensor& indices, int64_t bound);

class HeldEntries {
 public:
  /// Of `table` as it is after its casts.
  HeldEntries(Program& program, const PlannedCasts& casts, const ShardedTensor& table, int64_t dim);

  /// An index without an entry anywhere would pass for an entry of zeros where the table is split.
  /// Errors: kData, as check_indices.
  LocalIndices localize(std::string_view op, const at::Tensor& indices) const;

  /// The piece, with an entry of zeros if it has none: lookups stay in the graph, so that a rank
  /// without entries joins the others' collectives backward.
  at::Tensor with_an_entry(const at::Tensor& piece, int64_t dim) const;

 private:
  sharding::Interval held_;
  int64_t all_ = 0;
};

}  // namespace brigade::tensor
