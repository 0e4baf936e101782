// SPDX-License-Identifier: Apache-2.0
/// The seam of matrix products: c = a·b (+ c) for batches, any strides, by libtorch or by oneDNN.
///
/// Which one serves a size class is a table, equal on all ranks of a run and recorded with it:
/// measured at start (measure_matmul on one rank, then told to all), or fixed in deterministic
/// mode.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "parallel/base/dtype.h"

namespace at {
class Tensor;
}

namespace brigade::tensor {

enum class MatmulBackend : uint8_t { kLibtorch, kOneDnn };

std::string_view to_string(MatmulBackend backend);

struct MatmulTable {
  /// Below this many multiplications a product is small.
  static constexpr int64_t kSmall = int64_t{1} << 21;

  MatmulBackend small = MatmulBackend::kOneDnn;
  MatmulBackend large = MatmulBackend::kOneDnn;

  bool operator==(const MatmulTable&) const = default;
  std::string to_string() const;  ///< "small=onednn large=onednn"
};

/// What to_string() says, read again; nothing for another text.
std::optional<MatmulTable> parse_matmul_table(std::string_view text);

/// Times both on the shapes of a block of width `dim` and elements of `dtype` (fp32 or bf16) for a
/// few milliseconds each and takes the faster per class. Local: the caller sends one rank's answer
/// to all.
MatmulTable measure_matmul(int64_t rows, int64_t dim, DType dtype = DType::kFloat32);

/// out[b, m, n] = a[b, m, k] · b[b, k, n], plus out if `accumulate`; all three without b for one
/// product. Any strides (of `out`: a unit stride in its last dim or the one before); fp32 or bf16
/// operands of one dtype on one device; `out` fp32 or the operands' dtype. Records no autograd
/// history. Off the CPU, always libtorch.
void matmul_into(const MatmulTable& table,
                 const at::Tensor& a,
                 const at::Tensor& b,
                 at::Tensor& out,
                 bool accumulate);

}  // namespace brigade::tensor
