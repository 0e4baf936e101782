// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/attention.h"

#include <algorithm>
#include <cmath>

#include "parallel/base/check.h"
#include "parallel/kernels/causal_products.h"
#include "parallel/kernels/causal_softmax.h"
#include "parallel/kernels/float_rows.h"

namespace brigade::kernels {
namespace {

constexpr int64_t kTileRows = 64;  // measured: smaller tiles slow the products, larger waste more
// Rows of 1 KiB or more would meet in a few cache sets if their distance were a power of two.
constexpr int64_t kRowPadding = 16;

/// Rows [first, first + rows) of one head against keys [0, first + rows).
CausalTile tile_at(int64_t sequence, int64_t index) {
  const int64_t first = index * kTileRows;
  const int64_t rows = std::min(kTileRows, sequence - first);
  return {
      .rows = rows, .keys = first + rows, .first = first, .row_stride = first + rows + kRowPadding};
}

/// Where a tile's probabilities begin within the head's. The tiles before it are whole.
int64_t offset_of(int64_t index) {
  return kTileRows * (kTileRows * (index * (index + 1) / 2) + kRowPadding * index);
}

int64_t tile_count(int64_t sequence) {
  return (sequence + kTileRows - 1) / kTileRows;
}

int64_t head_probabilities(int64_t sequence) {
  if (sequence == 0) {
    return 0;
  }
  const int64_t last = tile_count(sequence) - 1;
  const CausalTile tile = tile_at(sequence, last);
  return offset_of(last) + tile.rows * tile.row_stride;
}

/// One head of a [batch, sequence, heads * head_dim] tensor.
struct Head {
  int64_t offset;
  int64_t row_stride;

  Head(const AttentionShape& shape, int64_t batch, int64_t heads, int64_t head)
      : offset((batch * shape.sequence * heads + head) * shape.head_dim),
        row_stride(heads * shape.head_dim) {}

  template <class T>
  T* at(T* data, int64_t row = 0) const {
    return data + offset + row * row_stride;
  }
};

/// The heads of one unit and what they share.
struct Unit {
  int64_t batch;
  int64_t group;  // query heads per key-value head
  int64_t first_query_head;
  Head keys;

  Unit(const AttentionShape& shape, int64_t index)
      : batch(index / shape.key_value_heads),
        group(shape.query_heads / shape.key_value_heads),
        first_query_head(index % shape.key_value_heads * group),
        keys(shape, batch, shape.key_value_heads, index % shape.key_value_heads) {}
};

void check_shape(const AttentionShape& shape) {
  BRIGADE_CHECK(shape.key_value_heads > 0 && shape.query_heads % shape.key_value_heads == 0,
                shape.query_heads,
                shape.key_value_heads);
}

float score_scale(const AttentionShape& shape) {
  return static_cast<float>(1.0 / std::sqrt(static_cast<double>(shape.head_dim)));
}

/// What a call keeps as packed floats, one after another in its scratch: keys or values of a unit,
/// transposed and in rows; rows of a tile of three kinds; a tile of scores. The last three serve
/// elements that are no floats.
struct Scratch {
  float* transposed;
  float* rows;
  float* tile_queries;
  float* tile_gradients;
  float* scores;
  float* tile_result;
  float* key_sums;
  float* value_sums;
  int64_t floats;

  Scratch(const AttentionShape& shape, float* data) {
    const int64_t tile_rows = std::min(kTileRows, shape.sequence);
    const int64_t tile_scores = tile_rows * (shape.sequence + kRowPadding);
    int64_t used = 0;
    const auto take = [&](int64_t count) {
      float* taken = data == nullptr ? nullptr : data + used;
      used += count;
      return taken;
    };
    transposed = take(transposed_floats(shape.sequence, shape.head_dim));
    rows = take(shape.sequence * shape.head_dim);
    tile_queries = take(tile_rows * shape.head_dim);
    tile_gradients = take(tile_rows * shape.head_dim);
    scores = take(tile_scores);
    tile_result = take(tile_rows * shape.head_dim);
    key_sums = take(shape.sequence * shape.head_dim);
    value_sums = take(shape.sequence * shape.head_dim);
    floats = used;
  }
};

/// One head's forward.
template <Element T>
struct HeadForward {
  const AttentionShape& shape;
  const CausalProducts& products;
  const Scratch& scratch;
  Head queries;

  void tile(int64_t index, const T* q, float* head_p, T* o) const {
    const CausalTile tile = tile_at(shape.sequence, index);
    float* p = head_p + offset_of(index);
    const int64_t dim = shape.head_dim;
    const int64_t stride = queries.row_stride;
    const FloatRows<const float> x =
        as_floats(tile.rows, dim, queries.at(q, tile.first), stride, scratch.tile_queries, dim);
    const FloatRows<float> result =
        rows_for(queries.at(o, tile.first), stride, scratch.tile_result, dim);
    products.scores(tile, x.data, x.row_stride, scratch.transposed, p);
    causal_softmax(tile, score_scale(shape), p);
    products.rows(tile, p, scratch.rows, result.data, result.row_stride);
    deliver(tile.rows, dim, result, queries.at(o, tile.first), stride);
  }
};

/// One head's backward: adds to the sums of its unit's keys unless it is the first there.
template <Element T>
struct HeadBackward {
  const AttentionShape& shape;
  const CausalProducts& products;
  const Scratch& scratch;
  Head queries;
  FloatRows<float> dk;
  FloatRows<float> dv;
  bool first_of_unit;

  void tile(int64_t index, const T* q, const float* head_p, const T* d_out, T* dq) const {
    const CausalTile tile = tile_at(shape.sequence, index);
    const int64_t dim = shape.head_dim;
    const int64_t stride = queries.row_stride;
    const bool add = !first_of_unit || tile.keys < shape.sequence;
    const float* p = head_p + offset_of(index);
    const FloatRows<float> result =
        rows_for(queries.at(dq, tile.first), stride, scratch.tile_result, dim);
    pack_rows(tile.rows, dim, queries.at(d_out, tile.first), stride, scratch.tile_gradients);
    pack_rows(tile.rows, dim, queries.at(q, tile.first), stride, scratch.tile_queries);
    products.keys(tile, p, scratch.tile_gradients, dv.data, dv.row_stride, add);
    products.scores(tile, scratch.tile_gradients, dim, scratch.transposed, scratch.scores);
    causal_softmax_backward(tile, score_scale(shape), p, scratch.scores);
    products.rows(tile, scratch.scores, scratch.rows, result.data, result.row_stride);
    deliver(tile.rows, dim, result, queries.at(dq, tile.first), stride);
    products.keys(tile, scratch.scores, scratch.tile_queries, dk.data, dk.row_stride, add);
  }
};

}  // namespace

int64_t attention_probabilities(const AttentionShape& shape) {
  return shape.batch * shape.query_heads * head_probabilities(shape.sequence);
}

int64_t attention_scratch(const AttentionShape& shape) {
  return Scratch(shape, nullptr).floats;
}

template <Element T>
void attention_forward(const AttentionShape& shape,
                       const T* q,
                       const T* k,
                       const T* v,
                       T* o,
                       float* p,
                       float* scratch_floats,
                       int64_t begin,
                       int64_t end) {
  check_shape(shape);
  const CausalProducts products(shape.head_dim);
  const Scratch scratch(shape, scratch_floats);
  for (int64_t index = begin; index < end; ++index) {
    const Unit unit(shape, index);
    const int64_t stride = unit.keys.row_stride;
    pack_transposed(shape.sequence, shape.head_dim, unit.keys.at(k), stride, scratch.transposed);
    pack_rows(shape.sequence, shape.head_dim, unit.keys.at(v), stride, scratch.rows);
    for (int64_t head = unit.first_query_head; head < unit.first_query_head + unit.group; ++head) {
      const HeadForward<T> forward{.shape = shape,
                                   .products = products,
                                   .scratch = scratch,
                                   .queries = Head(shape, unit.batch, shape.query_heads, head)};
      float* head_p =
          p + (unit.batch * shape.query_heads + head) * head_probabilities(shape.sequence);
      for (int64_t i = 0; i < tile_count(shape.sequence); ++i) {
        forward.tile(i, q, head_p, o);
      }
    }
  }
}

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
                        float* scratch_floats,
                        int64_t begin,
                        int64_t end) {
  check_shape(shape);
  const int64_t dim = shape.head_dim;
  const CausalProducts products(dim);
  const Scratch scratch(shape, scratch_floats);
  for (int64_t index = begin; index < end; ++index) {
    const Unit unit(shape, index);
    const int64_t stride = unit.keys.row_stride;
    pack_transposed(shape.sequence, dim, unit.keys.at(v), stride, scratch.transposed);
    pack_rows(shape.sequence, dim, unit.keys.at(k), stride, scratch.rows);
    const FloatRows<float> dk_sums = rows_for(unit.keys.at(dk), stride, scratch.key_sums, dim);
    const FloatRows<float> dv_sums = rows_for(unit.keys.at(dv), stride, scratch.value_sums, dim);
    for (int64_t member = 0; member < unit.group; ++member) {
      const int64_t head = unit.first_query_head + member;
      const HeadBackward<T> backward{.shape = shape,
                                     .products = products,
                                     .scratch = scratch,
                                     .queries = Head(shape, unit.batch, shape.query_heads, head),
                                     .dk = dk_sums,
                                     .dv = dv_sums,
                                     .first_of_unit = member == 0};
      const float* head_p =
          p + (unit.batch * shape.query_heads + head) * head_probabilities(shape.sequence);
      // The last tile meets all keys, so it can write what the others add to.
      for (int64_t i = tile_count(shape.sequence) - 1; i >= 0; --i) {
        backward.tile(i, q, head_p, d_out, dq);
      }
    }
    deliver(shape.sequence, dim, dk_sums, unit.keys.at(dk), stride);
    deliver(shape.sequence, dim, dv_sums, unit.keys.at(dv), stride);
  }
}

template void attention_forward(const AttentionShape&,
                                const float*,
                                const float*,
                                const float*,
                                float*,
                                float*,
                                float*,
                                int64_t,
                                int64_t);
template void attention_forward(const AttentionShape&,
                                const BFloat16*,
                                const BFloat16*,
                                const BFloat16*,
                                BFloat16*,
                                float*,
                                float*,
                                int64_t,
                                int64_t);
template void attention_backward(const AttentionShape&,
                                 const float*,
                                 const float*,
                                 const float*,
                                 const float*,
                                 const float*,
                                 float*,
                                 float*,
                                 float*,
                                 float*,
                                 int64_t,
                                 int64_t);
template void attention_backward(const AttentionShape&,
                                 const BFloat16*,
                                 const BFloat16*,
                                 const BFloat16*,
                                 const float*,
                                 const BFloat16*,
                                 BFloat16*,
                                 BFloat16*,
                                 BFloat16*,
                                 float*,
                                 int64_t,
                                 int64_t);

}  // namespace brigade::kernels
