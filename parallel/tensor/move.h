// SPDX-License-Identifier: Apache-2.0
/// The local half of a cast: what one rank does with its bytes. No autograd here; casts.cc puts it
/// into the graph.
#pragma once

#include <string_view>

#include <ATen/core/Tensor.h>

#include "parallel/sharding/op_plan.h"
#include "parallel/tensor/ledger.h"
#include "parallel/tensor/program.h"

namespace brigade::tensor {

/// Why a cast runs, for the ledger.
struct Cause {
  Pass pass = Pass::kForward;
  std::string_view reason;
  std::string_view source = "";  ///< the op whose plan asks for it
};

/// Runs `step` on a local piece of type `from` and returns the piece of type `step.to`; the result
/// may share memory with `local` where nothing moves. Writes the ledger where something does.
at::Tensor move(Program& program,
                const sharding::TensorType& from,
                const sharding::CastStep& step,
                const at::Tensor& local,
                const Cause& cause);

}  // namespace brigade::tensor
