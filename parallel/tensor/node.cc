// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/node.h"

#include <algorithm>

#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/autograd/functions/utils.h>

namespace brigade::tensor {

torch::autograd::variable_list OpNode::apply(torch::autograd::variable_list&& gradients) {
  const bool any = std::any_of(gradients.begin(), gradients.end(), [](const at::Tensor& gradient) {
    return gradient.defined();
  });
  if (!any) {
    return torch::autograd::variable_list(num_outputs());
  }
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  return backward(gradients);
}

bool needs_gradient(std::initializer_list<at::Tensor> inputs) {
  return at::GradMode::is_enabled() &&
         std::any_of(inputs.begin(), inputs.end(), [](const at::Tensor& input) {
           return input.defined() && input.requires_grad();
         });
}

void record(const c10::intrusive_ptr<OpNode>& node,
            std::initializer_list<at::Tensor> inputs,
            at::Tensor& output) {
  torch::autograd::edge_list edges;
  edges.reserve(inputs.size());
  for (const at::Tensor& input : inputs) {
    edges.push_back(input.defined() ? torch::autograd::impl::gradient_edge(input)
                                    : torch::autograd::Edge());
  }
  node->set_next_edges(std::move(edges));
  torch::autograd::set_history(output, node);
}

}  // namespace brigade::tensor
