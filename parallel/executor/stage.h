// SPDX-License-Identifier: Apache-2.0
/// Stage: what a model implements to be run by the executor - one pipeline rank's part of the
/// forward, unit by unit.
///
/// A unit is what is gathered, reduced and recomputed together: the embedding, a block, the head.
/// It takes the activation of the unit before it and nothing else of it, so each has a history of
/// its own and its backward is an action of its own.
///
/// Collective:    forward, over the stage's mesh: all its ranks call it with the same unit and
///                microbatch index, in the order of their action lists, and run the same ops in it.
///                Its backward is collective in the same way.
/// Recompute:     forward may be called a second time for a unit and microbatch, before its
///                backward, and must do the same then: it keeps no state and draws no random number
///                but by place (law 5).
/// Ownership:     the model's; the executor borrows it and must not outlive it. The executor keeps
///                the activation and the result until the microbatch's backward, and the history
///                with them.
/// Errors:        forward may throw: Exception (kType from an op's plan, the communicator's from a
///                cast), whatever libtorch throws. The executor's error boundary turns it into an
///                Error.
/// Thread safety: belongs to one thread, the program's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "parallel/base/ids.h"
#include "parallel/tensor/sharded_tensor.h"

namespace brigade::executor {

/// Where a microbatch stands in training: what its random numbers may depend on (law 5), whatever
/// the mesh.
struct TrainingPlace {
  int64_t step = 0;       ///< from 1
  int64_t first_row = 0;  ///< of its rows among those of the step's global batch
};

/// One microbatch of this data rank: rows of token ids and of targets (-1 = not trained), int64
/// [b, s].
struct Microbatch {
  at::Tensor tokens;
  at::Tensor targets;
  std::optional<TrainingPlace> training = {};  ///< empty in an evaluation, which draws nothing
};

class Stage {
 public:
  virtual ~Stage() = default;

  virtual bool is_first() const = 0;
  virtual bool is_last() const = 0;

  /// In forward order, at least one; the names that ParameterFacts::unit has.
  virtual const std::vector<std::string>& units() const = 0;

  /// Type of the activation that this stage receives; not asked of the first. Equal to the output
  /// type of the stage before.
  virtual sharding::TensorType input_type(int64_t batch, int64_t sequence) const = 0;

  /// The forward of one microbatch through units()[unit]. `activation` is undefined for the first
  /// unit of the first stage. The last unit of the last stage returns per-token losses [b, s]
  /// (undivided, 0 where not trained), any other its activation.
  virtual tensor::ShardedTensor forward(size_t unit,
                                        const Microbatch& microbatch,
                                        const tensor::ShardedTensor& activation) = 0;
};

}  // namespace brigade::executor
