// SPDX-License-Identifier: Apache-2.0
/// Tensors as rows of their last dim, and memory whose rows suit matrix products.
///
///   at::Tensor y = empty_rows(gate.sizes(), gate.options());
///   const Rows<float> from(gate);
///   const Rows<float> to(y);
///   for (int64_t row = 0; row < from.count(); ++row) { kernel(from.at(row), to.at(row)); }
///
/// Rows a multiple of 4 KiB apart share a few sets of the first cache, and a product that walks
/// down columns - a weight gradient - finds none of them there the next time: with rows of 1024
/// floats one core did 96 GFLOP/s, with a cache line between them 104-108 (BENCHMARKS.md). So an
/// op whose result products read makes it with empty_rows, and takes rows at any distance itself.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "parallel/kernels/element.h"

namespace brigade::tensor {

/// As at::empty, but with a cache line after each row where rows would be a multiple of 4 KiB.
at::Tensor empty_rows(at::IntArrayRef sizes, const at::TensorOptions& options);

/// A tensor of T on the CPU as [count, width]: rows at one distance, whatever the leading dims.
/// Copies what has other strides; owns the memory that it shows.
template <kernels::Element T>
class Rows {
 public:
  explicit Rows(const at::Tensor& tensor);

  int64_t count() const { return rows_.size(0); }
  int64_t width() const { return rows_.size(1); }
  /// Writing reaches the tensor where nothing was copied: of empty_rows never is.
  T* at(int64_t row) const { return data_ + row * rows_.stride(0); }

 private:
  at::Tensor rows_;
  T* data_;
};

}  // namespace brigade::tensor
