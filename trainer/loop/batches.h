// SPDX-License-Identifier: Apache-2.0
/// From the data module's plain vectors to the tensors that the executor takes.
#pragma once

#include <cstdint>

#include "parallel/executor/executor.h"
#include "trainer/data/batcher.h"

namespace brigade::loop {

/// Of training step `step` (from 1), which its microbatches know as their place.
executor::Batch to_tensors(const data::StepBatch& batch, int64_t microbatch_size, int64_t step);

/// Validation batch `index` (from 0) in source order. Rows beyond the last sample repeat the first
/// one with no target trained.
Result<executor::Batch> validation_batch(const data::TokenSource& source,
                                         int64_t index,
                                         const data::BatchShape& shape);

}  // namespace brigade::loop
