// SPDX-License-Identifier: Apache-2.0
#include "models/decoder/activation_bytes.h"

namespace brigade::decoder {

UnitActivations head_activations(const ActivationShape& shape,
                                 int64_t vocabulary,
                                 int64_t stream,
                                 int64_t statistics,
                                 int64_t entered) {
  const int64_t single = size_of(DType::kFloat32);
  const int64_t logits = shape.rows() * shape.share_of(vocabulary) * size_of(shape.dtype);
  // Per row: largest logit, sum, the target's logit, loss.
  const int64_t facts = 4 * shape.rows() * single;
  return {.input = stream,
          .products = 0,
          .saved = stream + statistics + entered + logits + facts,
          .working = logits + shape.rows() * single};
}

int64_t lookup_bytes(const ActivationShape& shape) {
  return shape.tensor_ranks == 1 ? 0
                                 : shape.rows() * (size_of(DType::kInt64) + size_of(DType::kBool));
}

int64_t lookup_working(const ActivationShape& shape, int64_t vocabulary, int64_t dim) {
  const int64_t single = size_of(DType::kFloat32);
  const int64_t gradient = shape.rows() * dim * single;
  const int64_t masked = shape.tensor_ranks == 1 ? 0 : 2 * gradient;
  if (shape.dtype == DType::kFloat32) {
    return masked;
  }
  return gradient + masked + shape.share_of(vocabulary) * dim * single;
}

}  // namespace brigade::decoder
