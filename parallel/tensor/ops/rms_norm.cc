// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/rms_norm.h"

#include <array>
#include <tuple>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <torch/csrc/autograd/saved_variable.h>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "parallel/kernels/rms_norm.h"
#include "parallel/sharding/elementwise_plan.h"
#include "parallel/tensor/fused.h"
#include "parallel/tensor/node.h"
#include "parallel/tensor/parallel_rows.h"
#include "parallel/tensor/plan_key.h"
#include "parallel/tensor/program.h"
#include "parallel/tensor/run_op.h"

namespace brigade::tensor {
namespace {

using sharding::TensorType;
using torch::autograd::SavedVariable;

kernels::RmsNormShape shape_of(const at::Tensor& x) {
  const int64_t dim = x.size(-1);
  return {dim == 0 ? 0 : x.numel() / dim, dim};
}

/// y and the inverse root mean square of each row.
std::pair<at::Tensor, at::Tensor> forward(const at::Tensor& x, const at::Tensor& gain, double eps) {
  if (!fusable({x, gain})) {
    const at::Tensor wide = widened(x);
    const at::Tensor inverse = at::rsqrt(wide.square().mean(-1, /*keepdim=*/true) + eps);
    return {(wide * inverse * gain).to(x.scalar_type()), inverse};
  }
  const kernels::RmsNormShape shape = shape_of(x);
  at::Tensor y = at::empty_like(x);
  at::Tensor inverse = at::empty({shape.rows}, x.options().dtype(at::kFloat));
  by_element(x, [&](auto element) {
    using T = decltype(element);
    parallel_rows(shape.rows, shape.dim, [&](int64_t begin, int64_t end) {
      kernels::rms_norm_forward(shape,
                                elements<T>(x),
                                elements<T>(gain),
                                static_cast<float>(eps),
                                mutable_elements<T>(y),
                                inverse.mutable_data_ptr<float>(),
                                begin,
                                end);
    });
  });
  return {y, inverse};
}

at::Tensor input_gradient(const at::Tensor& x,
                          const at::Tensor& gain,
                          const at::Tensor& inverse,
                          const at::Tensor& dy) {
  const kernels::RmsNormShape shape = shape_of(x);
  at::Tensor dx = at::empty_like(x);
  by_element(x, [&](auto element) {
    using T = decltype(element);
    parallel_rows(shape.rows, shape.dim, [&](int64_t begin, int64_t end) {
      kernels::rms_norm_backward(shape,
                                 elements<T>(x),
                                 elements<T>(gain),
                                 inverse.const_data_ptr<float>(),
                                 elements<T>(dy),
                                 mutable_elements<T>(dx),
                                 begin,
                                 end);
    });
  });
  return dx;
}

at::Tensor gain_gradient(const at::Tensor& x, const at::Tensor& inverse, const at::Tensor& dy) {
  const kernels::RmsNormShape shape = shape_of(x);
  at::Tensor dgain = at::empty({shape.dim}, x.options());
  by_element(x, [&](auto element) {
    using T = decltype(element);
    parallel_rows(shape.dim, shape.rows, [&](int64_t begin, int64_t end) {
      kernels::rms_norm_gain_gradient(shape,
                                      elements<T>(x),
                                      inverse.const_data_ptr<float>(),
                                      elements<T>(dy),
                                      mutable_elements<T>(dgain),
                                      begin,
                                      end);
    });
  });
  return dgain;
}

/// The same two, composed of libtorch's ops.
std::pair<at::Tensor, at::Tensor> composed_gradients(const at::Tensor& x,
                                                     const at::Tensor& gain,
                                                     const at::Tensor& inverse,
                                                     const at::Tensor& dy) {
  const at::Tensor normed = widened(x) * inverse;
  const at::Tensor wide_dy = widened(dy);
  const at::Tensor scaled = wide_dy * gain;
  const at::Tensor dx = inverse * (scaled - normed * (scaled * normed).mean(-1, /*keepdim=*/true));
  const at::Tensor dgain = (wide_dy * normed).reshape({-1, x.size(-1)}).sum(0);
  return {dx.to(x.scalar_type()), dgain.to(gain.scalar_type())};
}

class RmsNormNode final : public OpNode {
 public:
  RmsNormNode(const at::Tensor& x, const at::Tensor& gain, at::Tensor inverse)
      : x_(x, false), gain_(gain, false), inverse_(std::move(inverse)) {}

  std::vector<at::Tensor> backward(const std::vector<at::Tensor>& gradients) override {
    const at::Tensor x = x_.unpack();
    const at::Tensor gain = gain_.unpack();
    const at::Tensor dy = gradients[0].contiguous();
    if (!fusable({x, gain, dy})) {
      auto [dx, dgain] = composed_gradients(x, gain, inverse_, dy);
      return {dx, dgain};
    }
    std::vector<at::Tensor> result(2);
    if (task_should_compute_output(0)) {
      result[0] = input_gradient(x, gain, inverse_, dy);
    }
    if (task_should_compute_output(1)) {
      result[1] = gain_gradient(x, inverse_, dy);
    }
    return result;
  }

  void release_variables() override {
    x_.reset_data();
    gain_.reset_data();
    inverse_.reset();
  }

 private:
  SavedVariable x_;
  SavedVariable gain_;
  at::Tensor inverse_;
};

Result<sharding::OpPlan> plan_rms_norm(const mesh::Mesh& mesh,
                                       const TensorType& x,
                                       const TensorType& gain) {
  const size_t last = x.global.size() - 1;
  if (gain.global != sharding::Shape{x.global[last]}) {
    return fail(ErrorCode::kType,
                concat("rms_norm needs one gain per element of a row: x ",
                       x.to_string(mesh),
                       ", gain ",
                       gain.to_string(mesh)));
  }
  if (!x.spec.dim(last).empty()) {
    return fail(
        ErrorCode::kType,
        concat("rms_norm needs every row whole, but the last dim is sharded; reshard() it first: ",
               x.to_string(mesh)));
  }
  return sharding::plan_elementwise(
      mesh, "rms_norm", std::array<TensorType, 2>{x, gain}, sharding::Algebra::kOther);
}

at::Tensor normed(const at::Tensor& x, const at::Tensor& gain, double eps) {
  const at::Tensor rows = x.contiguous();
  BRIGADE_CHECK(gain.is_contiguous());
  at::Tensor y;
  at::Tensor inverse;
  {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    std::tie(y, inverse) = forward(rows, gain, eps);
  }
  if (needs_gradient({rows, gain})) {
    record(make_node<RmsNormNode>(rows, gain, inverse), {rows, gain}, y);
  }
  return y;
}

}  // namespace

ShardedTensor rms_norm(const ShardedTensor& x, const ShardedTensor& gain, double eps) {
  Program& program = x.program();
  const Planned& planned = program.plan(PlanKey("rms_norm", x, gain), [&] {
    return plan_rms_norm(program.mesh(), x.type(), gain.type());
  });
  return run(
      planned,
      [&](const at::Tensor& rows, const at::Tensor& scale) { return normed(rows, scale, eps); },
      x,
      gain);
}

}  // namespace brigade::tensor
