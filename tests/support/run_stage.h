// SPDX-License-Identifier: Apache-2.0
/// A stage's whole forward by hand: its units one after the other, in one history.
#pragma once

#include "parallel/executor/stage.h"

namespace brigade::testing {

inline tensor::ShardedTensor run_stage(executor::Stage& stage,
                                       const executor::Microbatch& microbatch,
                                       tensor::ShardedTensor x) {
  for (size_t unit = 0; unit < stage.units().size(); ++unit) {
    x = stage.forward(unit, microbatch, x);
  }
  return x;
}

}  // namespace brigade::testing
