// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/matmul.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>

#include <ATen/ATen.h>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "parallel/kernels/matmul.h"
#include "parallel/tensor/buffers.h"

namespace brigade::tensor {
namespace {

/// One matrix, or a batch of them, in the last two dims.
int64_t rows(const at::Tensor& matrix) {
  return matrix.size(-2);
}
int64_t columns(const at::Tensor& matrix) {
  return matrix.size(-1);
}
int64_t batch(const at::Tensor& matrix) {
  return matrix.dim() == 2 ? 1 : matrix.size(0);
}
int64_t batch_stride(const at::Tensor& matrix) {
  return matrix.dim() == 2 ? 0 : matrix.stride(0);
}

bool unit_stride(const at::Tensor& matrix) {
  return matrix.stride(-2) == 1 || matrix.stride(-1) == 1 || rows(matrix) == 1 ||
         columns(matrix) == 1;
}

kernels::MatmulOperand operand(const at::Tensor& matrix) {
  return {matrix.const_data_ptr(), matrix.stride(-2), matrix.stride(-1), batch_stride(matrix)};
}

void by_onednn(const at::Tensor& a, const at::Tensor& b, at::Tensor& out, bool accumulate) {
  const at::Tensor left = unit_stride(a) ? a : a.contiguous();
  const at::Tensor right = unit_stride(b) ? b : b.contiguous();
  BRIGADE_CHECK(unit_stride(out), out.strides());
  kernels::matmul(
      dtype_of(a),
      batch(out),
      rows(out),
      columns(out),
      columns(a),
      operand(left),
      operand(right),
      {out.mutable_data_ptr(), dtype_of(out), out.stride(-2), out.stride(-1), batch_stride(out)},
      accumulate);
}

void by_libtorch(const at::Tensor& a, const at::Tensor& b, at::Tensor& out, bool accumulate) {
  if (accumulate) {
    out.add_(at::matmul(a, b));
  } else if (out.scalar_type() != a.scalar_type()) {
    out.copy_(at::matmul(a, b));
  } else if (batch(a) == 1) {
    // A batch of one matrix takes another, slower road in libtorch.
    at::Tensor flat = out.dim() == 2 ? out : out.squeeze(0);
    at::mm_out(flat, a.dim() == 2 ? a : a.squeeze(0), b.dim() == 2 ? b : b.squeeze(0));
  } else {
    at::bmm_out(out, a, b);
  }
}

/// The three products of a linear layer, once, in seconds.
double time_layer(MatmulBackend backend, const at::Tensor& x, const at::Tensor& w) {
  const MatmulTable table{backend, backend};
  at::Tensor y = at::empty({1, x.size(1), w.size(1)}, x.options());
  at::Tensor dx = at::empty_like(x);
  at::Tensor dw = at::empty_like(w);
  const auto begin = std::chrono::steady_clock::now();
  matmul_into(table, x, w.transpose(1, 2), y, false);
  matmul_into(table, y, w, dx, false);
  matmul_into(table, y.transpose(1, 2), x, dw, false);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// By the best of a few runs of each, in turn, so that whoever else computes just then disturbs
/// both.
MatmulBackend faster(int64_t rows, int64_t in, int64_t out, DType dtype) {
  constexpr int kRepeats = 8;
  const at::Tensor x = at::ones({1, rows, in}, scalar_type_of(dtype));
  const at::Tensor w = at::ones({1, out, in}, scalar_type_of(dtype));
  double onednn = std::numeric_limits<double>::infinity();
  double libtorch = onednn;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    onednn = std::min(onednn, time_layer(MatmulBackend::kOneDnn, x, w));
    libtorch = std::min(libtorch, time_layer(MatmulBackend::kLibtorch, x, w));
  }
  return onednn <= libtorch ? MatmulBackend::kOneDnn : MatmulBackend::kLibtorch;
}

}  // namespace

std::string_view to_string(MatmulBackend backend) {
  return backend == MatmulBackend::kLibtorch ? "libtorch" : "onednn";
}

std::string MatmulTable::to_string() const {
  return concat("small=", tensor::to_string(small), " large=", tensor::to_string(large));
}

std::optional<MatmulTable> parse_matmul_table(std::string_view text) {
  constexpr std::array kBackends = {MatmulBackend::kLibtorch, MatmulBackend::kOneDnn};
  for (const MatmulBackend small : kBackends) {
    for (const MatmulBackend large : kBackends) {
      if (const MatmulTable table{small, large}; table.to_string() == text) {
        return table;
      }
    }
  }
  return std::nullopt;
}

MatmulTable measure_matmul(int64_t rows, int64_t dim, DType dtype) {
  const at::NoGradGuard no_grad;
  return {faster(64, 64, 64, dtype), faster(std::min<int64_t>(rows, 1024), dim, dim, dtype)};
}

void matmul_into(const MatmulTable& table,
                 const at::Tensor& a,
                 const at::Tensor& b,
                 at::Tensor& out,
                 bool accumulate) {
  const int64_t work = out.numel() * columns(a);
  const MatmulBackend backend = work < MatmulTable::kSmall ? table.small : table.large;
  const bool served = a.device().is_cpu() && a.scalar_type() != at::kDouble &&
                      kernels::matmul_supports(dtype_of(a));
  if (backend == MatmulBackend::kOneDnn && served) {
    by_onednn(a, b, out, accumulate);
  } else {
    by_libtorch(a, b, out, accumulate);
  }
}

}  // namespace brigade::tensor
