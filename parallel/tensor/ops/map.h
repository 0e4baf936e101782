// SPDX-License-Identifier: Apache-2.0
/// A local function on tensors of equal types, as an optimizer's formula on weight, gradient and
/// states.
///
///   const auto descend = [&](const at::Tensor& w, const at::Tensor& g) { return w - rate * g; };
///   ShardedTensor next = map(descend, weight, gradient);
///
/// The function must make element i of element i alone; nobody can check that. Its result has the
/// operands' dims and its own element type. It runs under libtorch's autograd.
///
/// Collective: never.
/// Errors:     kType for operands whose shapes or specs differ, or that hold unfinished sums; for a
///             result of another shape. Thrown as Exception.
#pragma once

#include <initializer_list>

#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

/// Throws unless map() may run on them.
void check_map(std::initializer_list<const ShardedTensor*> operands);

/// The local result as a tensor of the operands' type.
ShardedTensor finish_map(const ShardedTensor& operand, const at::Tensor& local);

template <class Function, class... Others>
ShardedTensor map(const Function& function, const ShardedTensor& first, const Others&... others) {
  check_map({&first, &others...});
  return finish_map(first, function(first.local(), others.local()...));
}

}  // namespace brigade::tensor
