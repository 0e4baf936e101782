// SPDX-License-Identifier: Apache-2.0
/// Stage: what a model implements to be run by the executor - one pipeline rank's part of the
/// forward.
#pragma once

#include <ATen/core/Tensor.h>

#include "parallel/base/ids.h"
#include "parallel/tensor/sharded_tensor.h"

namespace brigade::executor {

/// One microbatch of this data rank: rows of token ids and of targets (-1 = not trained), int64 [b,
/// s].
struct Microbatch {
  at::Tensor tokens;
  at::Tensor targets;
};

class Stage {
 public:
  virtual ~Stage() = default;

  virtual bool is_first() const = 0;
  virtual bool is_last() const = 0;

  /// Type of the activation that this stage receives; not asked of the first. Equal to the output
  /// type of the stage before.
  virtual sharding::TensorType input_type(int64_t batch, int64_t sequence) const = 0;

  /// The forward of one microbatch. `activation` is undefined on the first stage. The last stage
  /// returns per-token losses [b, s] (undivided, 0 where not trained), any other its activation.
  virtual tensor::ShardedTensor forward(const Microbatch& microbatch,
                                        const tensor::ShardedTensor& activation) = 0;
};

}  // namespace brigade::executor
