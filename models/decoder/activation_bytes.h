// SPDX-License-Identifier: Apache-2.0
/// How many bytes of activations a rank holds for one microbatch: what each family states of its
/// units, from types alone, and a test compares with what a meter counts.
///
///   const decoder::ModelActivations bytes = model->activations({.batch = 4, .sequence = 256});
///   bytes.block.saved;   // of one block, from its forward to its backward
///
/// Legend: b batch of one data rank, s sequence, d width.
#pragma once

#include <cstdint>

#include "parallel/base/dtype.h"
#include "parallel/sharding/interval.h"

namespace brigade::decoder {

/// One microbatch on one rank.
struct ActivationShape {
  int64_t batch = 1;
  int64_t sequence = 1;
  int64_t tensor_ranks = 1;
  int64_t tensor_rank = 0;
  bool sequence_parallel = false;
  DType dtype = DType::kFloat32;  ///< of activations; statistics and losses are fp32

  int64_t rows() const { return batch * sequence; }
  /// Rows of the residual stream that this rank holds.
  int64_t stream_rows() const {
    return batch * (sequence_parallel ? share_of(sequence) : sequence);
  }
  /// What the gradient of a stream passes through on its way into a unit's backward: nothing where
  /// the sequence is whole; else it is gathered, from a copy and into one. `stream` and `whole` are
  /// its bytes before and after.
  int64_t gathering(int64_t stream, int64_t whole) const {
    return sequence_parallel && tensor_ranks > 1 ? stream + 2 * whole : 0;
  }
  /// This rank's share of a dim that is split over tp.
  int64_t share_of(int64_t dim) const {
    return sharding::interval(dim, tensor_rank, tensor_ranks).size();
  }
};

struct UnitActivations {
  int64_t input = 0;     ///< what a forward that is run again needs: all that Keep::kInput keeps
  int64_t products = 0;  ///< the results of matrix products, which Keep::kProducts keeps besides
  int64_t saved = 0;     ///< from forward to backward, the input with it: Keep::kAll
  /// The most that a backward holds beside `saved`: gradients of activations. Those of parameters
  /// are not in it.
  int64_t working = 0;
};

struct ModelActivations {
  UnitActivations embedding;
  UnitActivations block;
  UnitActivations head;
  int64_t stream = 0;    ///< the residual stream, [b, s, d]: what passes between units and stages
  int64_t resident = 0;  ///< tables that a stage with blocks makes once
};

/// Of the final norm, the head over `vocabulary` and the loss. In bytes: `stream`, what its norm
/// keeps of the rows (`statistics`), and the stream whole along the sequence (`entered`).
UnitActivations head_activations(const ActivationShape& shape,
                                 int64_t vocabulary,
                                 int64_t stream,
                                 int64_t statistics,
                                 int64_t entered);

/// What looking rows up in a split table saves: ids as it counts them, and a mark on those of other
/// ranks. Nothing where the table is whole.
int64_t lookup_bytes(const ActivationShape& shape);

/// What its backward holds beside the gradient that it is given: a copy without the rows of other
/// ranks, which sorting doubles; in a narrow type the gradient and the table's are fp32 meanwhile.
int64_t lookup_working(const ActivationShape& shape, int64_t vocabulary, int64_t dim);

}  // namespace brigade::decoder
