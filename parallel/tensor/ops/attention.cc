// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/attention.h"

#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <torch/csrc/autograd/saved_variable.h>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "parallel/kernels/attention.h"
#include "parallel/tensor/fused.h"
#include "parallel/tensor/node.h"
#include "parallel/tensor/parallel_rows.h"
#include "parallel/tensor/plan_key.h"
#include "parallel/tensor/program.h"

namespace brigade::tensor {
namespace {

using sharding::OpPlan;
using sharding::TensorType;
using torch::autograd::SavedVariable;

/// q, k and v agree on batch and on the axes of their heads; the sequence is whole; no sum is
/// unfinished.
Result<OpPlan> plan_attention(const mesh::Mesh& mesh,
                              const TensorType& q,
                              const TensorType& k,
                              const TensorType& v,
                              int64_t head_size) {
  const auto described = [&] {
    return concat("q ", q.to_string(mesh), ", k ", k.to_string(mesh), ", v ", v.to_string(mesh));
  };
  if (q.dtype != k.dtype || q.dtype != v.dtype || !is_float(q.dtype)) {
    return fail(ErrorCode::kType,
                concat("causal_attention needs q, k and v of one float type; cast with to(): ",
                       described()));
  }
  if (q.spec != k.spec || k.spec != v.spec || k.global != v.global || !q.spec.unreduced().empty() ||
      !q.spec.dim(1).empty()) {
    return fail(ErrorCode::kType,
                concat("causal_attention needs q, k and v sharded alike over batch and heads with "
                       "the sequence whole; "
                       "reshard() them: ",
                       described()));
  }
  const int64_t ranks = mesh.axes_size(q.spec.dim(2));
  for (const TensorType* type : {&q, &k}) {
    if (type->global[2] % (head_size * ranks) != 0) {
      return fail(ErrorCode::kType,
                  concat("causal_attention splits by whole heads, but ",
                         type->global[2] / head_size,
                         " heads of ",
                         head_size,
                         " do not divide over ",
                         ranks,
                         " ranks: ",
                         described()));
    }
  }
  OpPlan plan;
  plan.local_result = q;
  plan.reason = "attention";
  return plan;
}

kernels::AttentionShape shape_of(const at::Tensor& q, const at::Tensor& k, int64_t head_size) {
  return {q.size(0), q.size(1), q.size(2) / head_size, k.size(2) / head_size, head_size};
}

/// Products of one unit of work, as a cost in elements.
int64_t unit_cost(const kernels::AttentionShape& shape) {
  return shape.sequence * shape.sequence * shape.query_heads /
         std::max<int64_t>(1, shape.key_value_heads);
}

at::Tensor scratch_for(const kernels::AttentionShape& shape, const at::Tensor& q) {
  return at::empty({kernels::attention_scratch(shape)}, q.options().dtype(at::kFloat));
}

class ComposedAttentionNode final : public OpNode {
 public:
  ComposedAttentionNode(const at::Tensor& q,
                        const at::Tensor& k,
                        const at::Tensor& v,
                        at::Tensor p,
                        int64_t head_size)
      : q_(q, false), k_(k, false), v_(v, false), p_(std::move(p)), head_size_(head_size) {}

  std::vector<at::Tensor> backward(const std::vector<at::Tensor>& gradients) override {
    const at::Tensor q = q_.unpack();
    const at::Tensor k = k_.unpack();
    const at::Tensor v = v_.unpack();
    const at::Tensor dout = gradients[0].contiguous();
    const kernels::AttentionShape shape = shape_of(q, k, head_size_);
    at::Tensor dq = at::empty_like(q);
    at::Tensor dk = at::empty_like(k);
    at::Tensor dv = at::empty_like(v);
    by_element(q, [&](auto element) {
      using T = decltype(element);
      parallel_rows(shape.units(), unit_cost(shape), [&](int64_t begin, int64_t end) {
        kernels::attention_backward(shape,
                                    elements<T>(q),
                                    elements<T>(k),
                                    elements<T>(v),
                                    p_.const_data_ptr<float>(),
                                    elements<T>(dout),
                                    mutable_elements<T>(dq),
                                    mutable_elements<T>(dk),
                                    mutable_elements<T>(dv),
                                    scratch_for(shape, q).mutable_data_ptr<float>(),
                                    begin,
                                    end);
      });
    });
    return {dq, dk, dv};
  }

  void release_variables() override {
    q_.reset_data();
    k_.reset_data();
    v_.reset_data();
    p_.reset();
  }

 private:
  SavedVariable q_;
  SavedVariable k_;
  SavedVariable v_;
  at::Tensor p_;
  int64_t head_size_;
};

at::Tensor composed(const at::Tensor& q,
                    const at::Tensor& k,
                    const at::Tensor& v,
                    int64_t head_size) {
  const kernels::AttentionShape shape = shape_of(q, k, head_size);
  at::Tensor out;
  at::Tensor p;
  {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    out = at::empty_like(q);
    p = at::empty({kernels::attention_probabilities(shape)}, q.options().dtype(at::kFloat));
    by_element(q, [&](auto element) {
      using T = decltype(element);
      parallel_rows(shape.units(), unit_cost(shape), [&](int64_t begin, int64_t end) {
        kernels::attention_forward(shape,
                                   elements<T>(q),
                                   elements<T>(k),
                                   elements<T>(v),
                                   mutable_elements<T>(out),
                                   p.mutable_data_ptr<float>(),
                                   scratch_for(shape, q).mutable_data_ptr<float>(),
                                   begin,
                                   end);
      });
    });
  }
  if (needs_gradient({q, k, v})) {
    record(make_node<ComposedAttentionNode>(q, k, v, p, head_size), {q, k, v}, out);
  }
  return out;
}

/// libtorch's kernel, which keeps no probabilities; its autograd is its own.
at::Tensor flash(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, int64_t head_size) {
  const auto heads = [&](const at::Tensor& x) {
    return x.view({x.size(0), x.size(1), -1, head_size}).transpose(1, 2);
  };
  const bool grouped = q.size(2) != k.size(2);
  const at::Tensor out = at::scaled_dot_product_attention(
      heads(q), heads(k), heads(v), {}, 0.0, /*is_causal=*/true, std::nullopt, grouped);
  return out.transpose(1, 2).reshape(q.sizes());
}

kernels::AttentionShape kernel_shape(const LocalAttention& shape) {
  return {shape.batch, shape.sequence, shape.query_heads, shape.key_value_heads, shape.head_size};
}

bool has_kernels(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kBFloat16;
}

/// Which of the two serves.
bool composes(bool fusable, int64_t sequence) {
  return fusable && sequence <= kComposedAttentionLimit;
}

}  // namespace

int64_t attention_scratch_bytes(const LocalAttention& shape, DType dtype) {
  if (composes(has_kernels(dtype), shape.sequence)) {
    return kernels::attention_scratch(kernel_shape(shape)) * size_of(DType::kFloat32);
  }
  constexpr int64_t kRows = 256;  // of libtorch's tiles
  constexpr int64_t kKeys = 512;
  return 2 * kRows * kKeys * size_of(DType::kFloat32);
}

int64_t attention_kept_bytes(const LocalAttention& shape, DType dtype) {
  const int64_t statistics = shape.batch * shape.query_heads * shape.sequence;
  if (composes(has_kernels(dtype), shape.sequence)) {
    return kernels::attention_probabilities(kernel_shape(shape)) * size_of(DType::kFloat32);
  }
  return statistics * size_of(DType::kFloat32);
}

ShardedTensor causal_attention(const ShardedTensor& q,
                               const ShardedTensor& k,
                               const ShardedTensor& v,
                               int64_t head_size) {
  Program& program = q.program();
  const Planned& planned = program.plan(PlanKey("causal_attention", q, k, v, head_size), [&] {
    return plan_attention(program.mesh(), q.type(), k.type(), v.type(), head_size);
  });
  const at::Tensor query = q.local().contiguous();
  const at::Tensor key_rows = k.local().contiguous();
  const at::Tensor value = v.local().contiguous();
  const bool compose = composes(fusable({query, key_rows, value}), query.size(1));
  return ShardedTensor(program,
                       planned.local_result,
                       compose ? composed(query, key_rows, value, head_size)
                               : flash(query, key_rows, value, head_size));
}

}  // namespace brigade::tensor
