// SPDX-License-Identifier: Apache-2.0
/// Whether a source has the tensors that are wanted of it.
#pragma once

#include <string_view>

#include "parallel/base/result.h"
#include "trainer/checkpoint/tensor_source.h"

namespace brigade::checkpoint {

/// "optimizer.state.NAME.exp_avg" and its like.
bool is_optimizer_state(std::string_view name);

/// Names and shapes; types may differ. Tensors of optimizers that are not wanted are not minded.
/// Errors: kData listing missing, unexpected and differing ones, the first ten of each and how many
/// there are.
Result<void> check_tensors(const TensorSource& source, const SourceTensors& wanted);

}  // namespace brigade::checkpoint
