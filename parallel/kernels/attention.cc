// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/attention.h"

#include <algorithm>
#include <cmath>

#include "parallel/base/check.h"
#include "parallel/kernels/causal_softmax.h"
#include "parallel/kernels/matmul.h"

namespace brigade::kernels {
namespace {

constexpr int64_t kTileRows = 64;  // measured: smaller tiles slow the products, larger waste more

/// Rows [first, first + rows) of one head against keys [0, keys).
struct Tile {
  int64_t first;
  int64_t rows;
  int64_t keys;
  int64_t offset;  // of its probabilities within the head's

  CausalTile causal() const { return {.rows = rows, .keys = keys, .first = first}; }
};

Tile tile_at(int64_t sequence, int64_t index) {
  const int64_t first = index * kTileRows;
  const int64_t rows = std::min(kTileRows, sequence - first);
  // The tiles before this one are whole: kTileRows rows of kTileRows, 2 kTileRows, ... keys.
  return {.first = first,
          .rows = rows,
          .keys = first + rows,
          .offset = kTileRows * kTileRows * (index * (index + 1) / 2)};
}

int64_t tile_count(int64_t sequence) {
  return (sequence + kTileRows - 1) / kTileRows;
}

int64_t head_probabilities(int64_t sequence) {
  if (sequence == 0) {
    return 0;
  }
  const Tile last = tile_at(sequence, tile_count(sequence) - 1);
  return last.offset + last.rows * last.keys;
}

/// Rows [row, ...) of one head of a [batch, sequence, heads * head_dim] tensor.
struct HeadView {
  int64_t offset;
  int64_t row_stride;

  MatmulOperand operand(const float* data, int64_t row = 0) const {
    return {.data = data + offset + row * row_stride, .row_stride = row_stride, .column_stride = 1};
  }
  MatmulOperand transposed(const float* data, int64_t row = 0) const {
    return {.data = data + offset + row * row_stride, .row_stride = 1, .column_stride = row_stride};
  }
  MatmulResult result(float* data, int64_t row = 0) const {
    return {.data = data + offset + row * row_stride,
            .dtype = DType::kFloat32,
            .row_stride = row_stride};
  }
};

HeadView head_view(const AttentionShape& shape, int64_t batch, int64_t heads, int64_t head) {
  return {.offset = (batch * shape.sequence * heads + head) * shape.head_dim,
          .row_stride = heads * shape.head_dim};
}

/// A tile's probabilities or their gradient as operands.
MatmulOperand scores(const float* data, const Tile& tile) {
  return {.data = data, .row_stride = tile.keys, .column_stride = 1};
}

MatmulOperand scores_transposed(const float* data, const Tile& tile) {
  return {.data = data, .row_stride = 1, .column_stride = tile.keys};
}

MatmulResult scores_result(float* data, const Tile& tile) {
  return {.data = data, .dtype = DType::kFloat32, .row_stride = tile.keys};
}

void multiply(int64_t m,
              int64_t n,
              int64_t k,
              const MatmulOperand& a,
              const MatmulOperand& b,
              const MatmulResult& c,
              bool accumulate) {
  matmul(DType::kFloat32, 1, m, n, k, a, b, c, accumulate);
}

/// The heads of one unit and what they share.
struct Unit {
  int64_t batch;
  int64_t key_value_head;
  int64_t group;  // query heads per key-value head
  HeadView keys;

  Unit(const AttentionShape& shape, int64_t index)
      : batch(index / shape.key_value_heads),
        key_value_head(index % shape.key_value_heads),
        group(shape.query_heads / shape.key_value_heads),
        keys(head_view(shape, batch, shape.key_value_heads, key_value_head)) {}
};

void check_shape(const AttentionShape& shape) {
  BRIGADE_CHECK(shape.key_value_heads > 0 && shape.query_heads % shape.key_value_heads == 0,
                shape.query_heads,
                shape.key_value_heads);
}

float score_scale(const AttentionShape& shape) {
  return static_cast<float>(1.0 / std::sqrt(static_cast<double>(shape.head_dim)));
}

}  // namespace

int64_t attention_probabilities(const AttentionShape& shape) {
  return shape.batch * shape.query_heads * head_probabilities(shape.sequence);
}

int64_t attention_scratch(const AttentionShape& shape) {
  return std::min(kTileRows, shape.sequence) * shape.sequence;
}

void attention_forward(const AttentionShape& shape,
                       const float* q,
                       const float* k,
                       const float* v,
                       float* o,
                       float* p,
                       int64_t begin,
                       int64_t end) {
  check_shape(shape);
  const float scale = score_scale(shape);
  for (int64_t index = begin; index < end; ++index) {
    const Unit unit(shape, index);
    for (int64_t member = 0; member < unit.group; ++member) {
      const int64_t head = unit.key_value_head * unit.group + member;
      const HeadView queries = head_view(shape, unit.batch, shape.query_heads, head);
      float* head_p =
          p + (unit.batch * shape.query_heads + head) * head_probabilities(shape.sequence);
      for (int64_t i = 0; i < tile_count(shape.sequence); ++i) {
        const Tile tile = tile_at(shape.sequence, i);
        float* tile_p = head_p + tile.offset;
        multiply(tile.rows,
                 tile.keys,
                 shape.head_dim,
                 queries.operand(q, tile.first),
                 unit.keys.transposed(k),
                 scores_result(tile_p, tile),
                 false);
        causal_softmax(tile.causal(), scale, tile_p);
        multiply(tile.rows,
                 shape.head_dim,
                 tile.keys,
                 scores(tile_p, tile),
                 unit.keys.operand(v),
                 queries.result(o, tile.first),
                 false);
      }
    }
  }
}

void attention_backward(const AttentionShape& shape,
                        const float* q,
                        const float* k,
                        const float* v,
                        const float* p,
                        const float* d_out,
                        float* dq,
                        float* dk,
                        float* dv,
                        float* scratch,
                        int64_t begin,
                        int64_t end) {
  check_shape(shape);
  const float scale = score_scale(shape);
  for (int64_t index = begin; index < end; ++index) {
    const Unit unit(shape, index);
    for (int64_t member = 0; member < unit.group; ++member) {
      const int64_t head = unit.key_value_head * unit.group + member;
      const HeadView queries = head_view(shape, unit.batch, shape.query_heads, head);
      const float* head_p =
          p + (unit.batch * shape.query_heads + head) * head_probabilities(shape.sequence);
      // The last tile meets all keys, so it can write what the others add to.
      for (int64_t i = tile_count(shape.sequence) - 1; i >= 0; --i) {
        const Tile tile = tile_at(shape.sequence, i);
        const float* tile_p = head_p + tile.offset;
        const bool add = member > 0 || tile.keys < shape.sequence;
        multiply(tile.keys,
                 shape.head_dim,
                 tile.rows,
                 scores_transposed(tile_p, tile),
                 queries.operand(d_out, tile.first),
                 unit.keys.result(dv),
                 add);
        multiply(tile.rows,
                 tile.keys,
                 shape.head_dim,
                 queries.operand(d_out, tile.first),
                 unit.keys.transposed(v),
                 scores_result(scratch, tile),
                 false);
        causal_softmax_backward(tile.causal(), scale, tile_p, scratch);
        multiply(tile.rows,
                 shape.head_dim,
                 tile.keys,
                 scores(scratch, tile),
                 unit.keys.operand(k),
                 queries.result(dq, tile.first),
                 false);
        multiply(tile.keys,
                 shape.head_dim,
                 tile.rows,
                 scores_transposed(scratch, tile),
                 queries.operand(q, tile.first),
                 unit.keys.result(dk),
                 add);
      }
    }
  }
}

}  // namespace brigade::kernels
