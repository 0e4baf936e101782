// SPDX-License-Identifier: Apache-2.0
#include "models/gpt2/activation_bytes.h"

#include <algorithm>

#include "parallel/base/dtype.h"
#include "parallel/tensor/ops/attention.h"

namespace brigade::gpt2 {
namespace {

using decoder::ActivationShape;
using decoder::UnitActivations;

/// A norm computes with fp32 gains and biases, copies where weights are of another type.
int64_t widened_gains(const Config& config, const ActivationShape& shape) {
  return shape.dtype == DType::kFloat32 ? 0 : config.dim;
}

/// Bytes of the tensors that the stage's code names, by those names.
struct Sizes {
  Sizes(const Config& config, const ActivationShape& shape)
      : element(size_of(shape.dtype)),
        rows(shape.rows()),
        stream(shape.stream_rows() * config.dim * element),
        statistics(2 * (shape.stream_rows() + widened_gains(config, shape)) *
                   size_of(DType::kFloat32)),
        entered(rows * config.dim * element),
        heads(rows * shape.share_of(config.dim) * element),
        wide(rows * shape.share_of(config.ffn_dim) * element),
        mask(config.dropout > 0.0 ? shape.stream_rows() * config.dim * size_of(DType::kBool) : 0),
        dropped(config.dropout > 0.0 ? stream : 0) {}

  int64_t element;
  int64_t rows;
  int64_t stream;      // a residual stream
  int64_t statistics;  // of a norm: mean and deviation of each row; widened gain and bias
  int64_t entered;     // normed, whole along the sequence
  int64_t heads;       // queries, keys, values or attention's result
  int64_t wide;        // before GELU, or behind it
  int64_t mask;        // what dropout keeps
  int64_t dropped;     // the gradient behind a dropout, as long as that before it is there
};

UnitActivations block_bytes(const Config& config, const ActivationShape& shape) {
  const Sizes size(config, shape);
  const tensor::LocalAttention heads{.batch = shape.batch,
                                     .sequence = shape.sequence,
                                     .query_heads = shape.share_of(config.n_heads),
                                     .key_value_heads = shape.share_of(config.n_heads),
                                     .head_size = config.head_size()};
  const int64_t attention = size.stream + size.statistics + size.entered + 4 * size.heads +
                            size.mask + tensor::attention_kept_bytes(heads, shape.dtype);
  const int64_t feed_forward =
      size.stream + size.statistics + size.entered + 2 * size.wide + size.mask;
  // Attention's backward comes when that of the feed-forward has let go of all it saved.
  const int64_t in_attention =
      4 * size.heads + tensor::attention_scratch_bytes(heads, shape.dtype) - feed_forward;
  return {.input = size.stream,
          .products = 3 * size.heads + 2 * size.stream + size.wide,
          .saved = attention + feed_forward,
          .working = size.stream + std::max({2 * size.dropped,
                                             size.wide,
                                             in_attention,
                                             shape.gathering(size.stream, size.entered)})};
}

UnitActivations embedding_bytes(const Config& config, const ActivationShape& shape) {
  const Sizes size(config, shape);
  // Of all positions, and of those in use before they join them.
  const int64_t positions =
      (config.n_positions + shape.sequence) * config.dim * size_of(shape.dtype);
  const int64_t looked_up = decoder::lookup_working(shape, config.vocab_size, config.dim);
  return {.input = 0,
          .products = 0,
          .saved = decoder::lookup_bytes(shape) + size.mask,
          .working = size.stream + std::max({2 * size.dropped,
                                             size.dropped + positions,
                                             size.dropped + looked_up,
                                             shape.gathering(size.stream, size.entered)})};
}

}  // namespace

decoder::ModelActivations activation_bytes(const Config& config, const ActivationShape& shape) {
  const Sizes size(config, shape);
  return {.embedding = embedding_bytes(config, shape),
          .block = block_bytes(config, shape),
          .head = decoder::head_activations(
              shape, config.vocab_size, size.stream, size.statistics, size.entered),
          .stream = size.stream,
          .resident = 0};
}

}  // namespace brigade::gpt2
