// SPDX-License-Identifier: Apache-2.0
#include "models/llama/activation_bytes.h"

#include <algorithm>

#include "parallel/base/dtype.h"
#include "parallel/tensor/ops/attention.h"

namespace brigade::llama {
namespace {

using decoder::ActivationShape;
using decoder::UnitActivations;

/// Bytes of the tensors that the stage's code names, by those names.
struct Sizes {
  Sizes(const Config& config, const ActivationShape& shape)
      : element(size_of(shape.dtype)),
        rows(shape.rows()),
        stream(shape.stream_rows() * config.dim * element),
        statistics(shape.stream_rows() * size_of(DType::kFloat32)),
        entered(rows * config.dim * element),
        queries(rows * shape.share_of(config.dim) * element),
        keys(rows * shape.share_of(config.n_kv_heads * config.head_size()) * element),
        wide(rows * shape.share_of(config.ffn_dim) * element) {}

  int64_t element;
  int64_t rows;
  int64_t stream;      // a residual stream
  int64_t statistics;  // of a norm: one per row
  int64_t entered;     // normed, whole along the sequence
  int64_t queries;     // and attention's result
  int64_t keys;        // or values
  int64_t wide;        // gate, up or their product
};

UnitActivations block_bytes(const Config& config, const ActivationShape& shape) {
  const Sizes size(config, shape);
  const tensor::LocalAttention heads{.batch = shape.batch,
                                     .sequence = shape.sequence,
                                     .query_heads = shape.share_of(config.n_heads),
                                     .key_value_heads = shape.share_of(config.n_kv_heads),
                                     .head_size = config.head_size()};
  const int64_t attention = size.stream + size.statistics + size.entered + 2 * size.queries +
                            2 * size.keys + tensor::attention_kept_bytes(heads, shape.dtype);
  const int64_t feed_forward = size.stream + size.statistics + size.entered + 3 * size.wide;
  // Attention's backward comes when that of the feed-forward has let go of all it saved.
  const int64_t in_attention = 2 * size.queries + 2 * size.keys +
                               tensor::attention_scratch_bytes(heads, shape.dtype) - feed_forward;
  // The gate's backward holds the gradients of its result and its operands, and no longer needs its
  // result; before it, with a split sequence, the gradient of the block is gathered.
  return {.input = size.stream,
          .products = size.queries + 2 * size.keys + 2 * size.stream + 2 * size.wide,
          .saved = attention + feed_forward,
          .working =
              size.stream +
              std::max({2 * size.wide, in_attention, shape.gathering(size.stream, size.entered)})};
}

UnitActivations embedding_bytes(const Config& config, const ActivationShape& shape) {
  const Sizes size(config, shape);
  return {.input = 0,
          .products = 0,
          .saved = decoder::lookup_bytes(shape),
          .working =
              size.stream + std::max(decoder::lookup_working(shape, config.vocab_size, config.dim),
                                     shape.gathering(size.stream, size.entered))};
}

}  // namespace

decoder::ModelActivations activation_bytes(const Config& config, const ActivationShape& shape) {
  const int64_t table = shape.sequence * config.head_size() * size_of(DType::kFloat32);
  const Sizes size(config, shape);
  return {.embedding = embedding_bytes(config, shape),
          .block = block_bytes(config, shape),
          .head = decoder::head_activations(
              shape, config.vocab_size, size.stream, size.statistics, size.entered),
          .stream = size.stream,
          .resident = table};
}

}  // namespace brigade::llama
