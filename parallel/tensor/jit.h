// SPDX-License-Identifier: Apache-2.0
/// jit: a function of sharded tensors with the shardings of its arguments and results declared.
///
///   auto forward = jit(program, mlp, {rows, replicated, replicated}, {rows});
///   ShardedTensor y = forward(x, w, b);
///
/// Nothing is traced or compiled: the function runs at every call and its ops find the plans of the
/// first. What jit adds is the boundary. In order:
///
///   argument   a ShardedTensor is committed: its spec must be the in_sharding's. A plain
///              at::Tensor, whole and equal on all ranks, is distributed by the in_sharding; its
///              gradient comes back whole. Where no in_sharding is given (std::nullopt) a
///              ShardedTensor is taken as it is and a plain tensor is replicated.
///   function   takes const ShardedTensor&..., returns one, a std::tuple of them or a std::vector.
///   ranks      ran the same ops in the same order, branches included; compared at the end.
///   result     must have the out_sharding's spec (std::nullopt: any); never moved.
///
/// Collective: what the function's ops do; then 16 bytes per rank over the whole mesh.
/// Errors:     kType, naming argument or result, both types and the way out; kMismatch, naming the
///             ranks and the first op that differs. Thrown as Exception.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parallel/tensor/boundary.h"
#include "parallel/tensor/program.h"
#include "parallel/tensor/trace.h"

namespace brigade::tensor {

/// The two sides of one jit; what does not depend on the function.
class JitBoundary {
 public:
  JitBoundary(Program& program, const BoundaryShardings& in, const BoundaryShardings& out);

  Program& program() const { return program_; }
  std::vector<ShardedTensor> enter(const Arguments& arguments) const;
  void leave(const Trace::Call& call, const std::vector<ShardedTensor>& results) const;

 private:
  Program& program_;
  std::vector<std::optional<sharding::PartitionSpec>> in_;
  std::vector<std::optional<sharding::PartitionSpec>> out_;
  std::vector<std::string> argument_names_;  ///< "jit: argument 0", the ledger's reasons
};

template <class Function>
class Jitted {
 public:
  Jitted(JitBoundary boundary, Function function)
      : boundary_(std::move(boundary)), function_(std::move(function)) {}

  /// Each argument is a ShardedTensor or an at::Tensor.
  template <class... Each>
  auto operator()(const Each&... arguments) const {
    const Trace::Call call(boundary_.program().trace());
    const std::vector<ShardedTensor> inputs = boundary_.enter({arguments...});
    auto results = spread(function_, inputs, std::index_sequence_for<Each...>());
    boundary_.leave(call, listed<ShardedTensor>(results));
    return results;
  }

 private:
  JitBoundary boundary_;
  Function function_;
};

template <class Function>
Jitted<Function> jit(Program& program,
                     Function function,
                     const BoundaryShardings& in_shardings,
                     const BoundaryShardings& out_shardings) {
  return {JitBoundary(program, in_shardings, out_shardings), std::move(function)};
}

}  // namespace brigade::tensor
