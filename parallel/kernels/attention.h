// SPDX-License-Identifier: Apache-2.0
/// Causal grouped-query attention, composed of products over tiles of rows and the causal softmax:
/// o = softmax(q k^T / sqrt(head_dim)) v, each row seeing the keys up to its own position.
///
///   std::vector<float> p(attention_probabilities(shape));          // kept for backward
///   std::vector<float> scratch(attention_scratch(shape));          // one per concurrent call
///   attention_forward(shape, q, k, v, o, p, scratch, 0, shape.units());
///   attention_backward(shape, q, k, v, p, do, dq, dk, dv, scratch, 0, shape.units());
///
/// q, o: [batch, sequence, query_heads * head_dim]; k, v: [batch, sequence, key_value_heads *
/// head_dim]; contiguous; query head h reads key-value head h / (query_heads / key_value_heads).
/// T is float or BFloat16. Products, softmax and probabilities are of floats either way; in bf16
/// the results are rounded once.
/// A tile of rows only meets the keys up to its last row, which saves almost half of the products.
/// A *unit* is one key-value head of one batch entry with its query heads; calls on disjoint unit
/// ranges write disjoint outputs, and splitting the range changes no bit. The products use the
/// calling thread's setting (matmul.h).
/// Later tokens have weight 0, but products run over whole tiles: an infinite or NaN value of a
/// later token in the same tile of rows reaches earlier ones.
/// Memory grows with sequence^2: for long sequences use a kernel that keeps no probabilities.
/// Thread safety: calls on disjoint unit ranges with scratch of their own, safe.
#pragma once

#include <cstdint>

#include "parallel/kernels/element.h"

namespace brigade::kernels {

struct AttentionShape {
  int64_t batch;
  int64_t sequence;
  int64_t query_heads;
  int64_t key_value_heads;  // divides query_heads
  int64_t head_dim;

  int64_t units() const { return batch * key_value_heads; }
};

/// Floats of `p`: for each (batch entry, query head), tiles of rows, each row as long as its
/// tile's last one sees. The layout is attention's own.
int64_t attention_probabilities(const AttentionShape& shape);

/// Floats of a call's `scratch`.
int64_t attention_scratch(const AttentionShape& shape);

/// Writes o and p of units [begin, end).
template <Element T>
void attention_forward(const AttentionShape& shape,
                       const T* q,
                       const T* k,
                       const T* v,
                       T* o,
                       float* p,
                       float* scratch,
                       int64_t begin,
                       int64_t end);

/// Writes dq, dk and dv of units [begin, end); dk and dv sum over the query heads of a unit in
/// order. p as forward wrote it; d_out is the gradient of o.
template <Element T>
void attention_backward(const AttentionShape& shape,
                        const T* q,
                        const T* k,
                        const T* v,
                        const float* p,
                        const T* d_out,
                        T* dq,
                        T* dk,
                        T* dv,
                        float* scratch,
                        int64_t begin,
                        int64_t end);

}  // namespace brigade::kernels
