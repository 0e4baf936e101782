// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/rotary.h"

#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "parallel/kernels/rotary.h"
#include "parallel/tensor/fused.h"
#include "parallel/tensor/node.h"
#include "parallel/tensor/parallel_rows.h"
#include "parallel/tensor/program.h"

namespace brigade::tensor {
namespace {

enum class Turn { kForward, kInverse };

at::Tensor composed_turn(const at::Tensor& x,
                         const RotaryTable& table,
                         int64_t head_size,
                         Turn turn) {
  const at::Tensor heads = x.view({x.size(0), x.size(1), -1, head_size});
  const std::vector<at::Tensor> halves = heads.chunk(2, -1);
  const at::Tensor cosine = table.cosine.unsqueeze(1);
  const at::Tensor sine =
      turn == Turn::kForward ? table.sine.unsqueeze(1) : -table.sine.unsqueeze(1);
  return at::cat({halves[0] * cosine - halves[1] * sine, halves[1] * cosine + halves[0] * sine}, -1)
      .to(x.scalar_type())
      .view(x.sizes());
}

at::Tensor turned(const at::Tensor& x, const RotaryTable& table, int64_t head_size, Turn turn) {
  if (!fusable({x}) || !fusable({table.cosine})) {
    return composed_turn(x, table, head_size, turn);
  }
  const kernels::RotaryShape shape{
      x.size(0) * x.size(1), x.size(1), x.size(2) / head_size, head_size};
  at::Tensor y = at::empty_like(x);
  by_element(x, [&](auto element) {
    using T = decltype(element);
    const auto kernel =
        turn == Turn::kForward ? kernels::rotary_forward<T> : kernels::rotary_backward<T>;
    parallel_rows(shape.rows, x.size(2), [&](int64_t begin, int64_t end) {
      kernel(shape,
             elements<T>(x),
             table.cosine.const_data_ptr<float>(),
             table.sine.const_data_ptr<float>(),
             mutable_elements<T>(y),
             begin,
             end);
    });
  });
  return y;
}

class RotaryNode final : public OpNode {
 public:
  RotaryNode(RotaryTable table, int64_t head_size)
      : table_(std::move(table)), head_size_(head_size) {}

  std::vector<at::Tensor> backward(const std::vector<at::Tensor>& gradients) override {
    return {turned(gradients[0].contiguous(), table_, head_size_, Turn::kInverse)};
  }

 private:
  RotaryTable table_;
  int64_t head_size_;
};

}  // namespace

RotaryTable rotary_table(int64_t sequence, int64_t head_size, double theta) {
  RotaryTable table{at::empty({sequence, head_size / 2}), at::empty({sequence, head_size / 2})};
  kernels::rotary_table(theta,
                        head_size,
                        0,
                        sequence,
                        table.cosine.mutable_data_ptr<float>(),
                        table.sine.mutable_data_ptr<float>());
  return table;
}

ShardedTensor rotary(const ShardedTensor& x, const RotaryTable& table, int64_t head_size) {
  const sharding::TensorType& type = x.type();
  if (!type.spec.dim(1).empty() || !type.spec.unreduced().empty() ||
      x.local().size(2) % head_size != 0) {
    throw Exception({ErrorCode::kType,
                     concat("rotary needs the sequence whole, whole heads of ",
                            head_size,
                            " and no unfinished sum; reshard() it: ",
                            type.to_string(x.program().mesh())),
                     -1});
  }
  const at::Tensor rows = x.local().contiguous();
  at::Tensor y;
  {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    y = turned(rows, table, head_size, Turn::kForward);
  }
  if (needs_gradient({rows})) {
    record(make_node<RotaryNode>(table, head_size), {rows}, y);
  }
  return ShardedTensor(x.program(), &x.record(), y);
}

}  // namespace brigade::tensor
