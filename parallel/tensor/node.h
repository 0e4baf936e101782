// SPDX-License-Identifier: Apache-2.0
/// OpNode: the backward of one op of ours, as a node of libtorch's graph - and record(), which puts
/// it there.
///
/// torch::autograd::Function would do, but keeps what it saves in a dictionary and costs
/// microseconds per call; casts are many and small. Only sources that define ops include this.
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/saved_variable.h>

namespace brigade::tensor {

class OpNode : public torch::autograd::Node {
 public:
  /// Gradients of the inputs given those of the outputs; undefined for an input that needs none.
  /// Runs without grad mode.
  virtual std::vector<at::Tensor> backward(const std::vector<at::Tensor>& gradients) = 0;

 private:
  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) final;
};

/// Does any of these need a gradient now?
bool needs_gradient(std::initializer_list<at::Tensor> inputs);

/// Makes `output` the result of `node` on `inputs`. `output` was computed without grad mode and has
/// no history.
void record(const c10::intrusive_ptr<OpNode>& node,
            std::initializer_list<at::Tensor> inputs,
            at::Tensor& output);

template <class Node, class... Arguments>
c10::intrusive_ptr<Node> make_node(Arguments&&... arguments) {
  return c10::make_intrusive<Node>(std::forward<Arguments>(arguments)...);
}

}  // namespace brigade::tensor
