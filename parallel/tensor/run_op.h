// SPDX-License-Identifier: Apache-2.0
/// run: what every op is - operands cast, a local computation, the result cast.
///
///   ShardedTensor exp(const ShardedTensor& x) {
///     const Planned& planned = x.program().plan(
///         PlanKey("exp", x), [&] { return sharding::plan_unary(...); });
///     return run(planned, [](const at::Tensor& local) { return at::exp(local); }, x);
///   }
///
/// The local function gets the cast operands' pieces and returns a piece of the planned local
/// result; libtorch records its backward, or it records a node of its own (node.h). Casts are nodes
/// themselves.
///
/// Collective: where a cast of the plan communicates, forward or backward (casts.h).
#pragma once

#include <span>
#include <vector>

#include "parallel/base/check.h"
#include "parallel/tensor/casts.h"
#include "parallel/tensor/planned.h"
#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

template <class Local>
ShardedTensor run(const Planned& planned, const Local& local, const ShardedTensor& x) {
  const ShardedTensor input = cast(x, planned.inputs[0]);
  return cast(ShardedTensor(x.program(), planned.local_result, local(input.local())),
              planned.output);
}

template <class Local>
ShardedTensor run(const Planned& planned,
                  const Local& local,
                  const ShardedTensor& a,
                  const ShardedTensor& b) {
  const ShardedTensor left = cast(a, planned.inputs[0]);
  const ShardedTensor right = cast(b, planned.inputs[1]);
  return cast(ShardedTensor(a.program(), planned.local_result, local(left.local(), right.local())),
              planned.output);
}

/// Any number of operands, of which there is at least one; `local` gets a vector of tensors.
template <class Local>
ShardedTensor run(const Planned& planned,
                  const Local& local,
                  std::span<const ShardedTensor> operands) {
  BRIGADE_CHECK(!operands.empty() && operands.size() == planned.inputs.size(), operands.size());
  std::vector<at::Tensor> locals;
  locals.reserve(operands.size());
  for (size_t index = 0; index < operands.size(); ++index) {
    locals.push_back(cast(operands[index], planned.inputs[index]).local());
  }
  return cast(ShardedTensor(operands[0].program(), planned.local_result, local(locals)),
              planned.output);
}

}  // namespace brigade::tensor
