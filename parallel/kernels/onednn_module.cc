// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/onednn_module.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <omp.h>
#include <string>
#include <unordered_map>
#include <vector>

#include <dnnl.hpp>

#include "parallel/base/check.h"

namespace brigade::kernels {
namespace {

using Dims = dnnl::memory::dims;

constexpr size_t kKeptProducts = 2048;    // of one thread; beyond, all are made again
constexpr size_t kScratchAlignment = 64;  // a cache line, an AVX-512 register

struct FreeDeleter {
  void operator()(void* data) const { std::free(data); }
};

/// Everything that decides which kernel serves a product.
struct Key {
  std::array<int64_t, 17> fields;

  bool operator==(const Key&) const = default;
};

struct KeyHash {
  size_t operator()(const Key& key) const {
    uint64_t hash = 0xcbf29ce484222325U;
    for (const int64_t field : key.fields) {
      hash = (hash ^ static_cast<uint64_t>(field)) * 0x9e3779b97f4a7c15U;
      hash ^= hash >> 29;
    }
    return hash;
  }
};

/// A kernel with the three matrices whose data pointers each call swaps.
struct Product {
  dnnl::matmul kernel;
  dnnl::memory a;
  dnnl::memory b;
  dnnl::memory c;
  dnnl::memory scratch;
  size_t scratch_bytes;
};

const dnnl::engine& cpu_engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::memory::data_type type_of(DType dtype) {
  BRIGADE_CHECK(dtype == DType::kFloat32 || dtype == DType::kBFloat16, dtype);
  return dtype == DType::kFloat32 ? dnnl::memory::data_type::f32 : dnnl::memory::data_type::bf16;
}

/// The strides of a matrix with the free ones (of dims of size 1) set so that oneDNN sees a plain
/// row-major or column-major matrix.
struct MatrixStrides {
  int64_t row;
  int64_t column;
  int64_t batch;
};

MatrixStrides plain_strides(int64_t rows, int64_t columns, MatrixStrides strides) {
  if (rows == 1) {
    strides.row = strides.column == 1 ? columns : 1;
  }
  if (columns == 1) {
    strides.column = strides.row == 1 ? rows : 1;
  }
  BRIGADE_CHECK(
      strides.row == 1 || strides.column == 1, rows, columns, strides.row, strides.column);
  return strides;
}

dnnl::memory::desc describe(
    DType dtype, int64_t batch, int64_t rows, int64_t columns, const MatrixStrides& strides) {
  if (batch == 1) {
    return {Dims{rows, columns}, type_of(dtype), Dims{strides.row, strides.column}};
  }
  const int64_t matrices = strides.batch == 0 ? 1 : batch;
  const int64_t distance = strides.batch == 0 ? rows * columns : strides.batch;
  return {
      Dims{matrices, rows, columns}, type_of(dtype), Dims{distance, strides.row, strides.column}};
}

dnnl::matmul::primitive_desc plan(const dnnl::memory::desc& a,
                                  const dnnl::memory::desc& b,
                                  const dnnl::memory::desc& c,
                                  bool accumulate) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (accumulate) {
    dnnl::post_ops add_old;
    add_old.append_sum(1.0F);
    attributes.set_post_ops(add_old);
  }
  return {dnnl::matmul::desc(a, b, c), attributes, cpu_engine()};
}

Product make_product(const dnnl::memory::desc& a,
                     const dnnl::memory::desc& b,
                     const dnnl::memory::desc& c,
                     bool accumulate) {
  try {
    const dnnl::matmul::primitive_desc chosen = plan(a, b, c, accumulate);
    const dnnl::memory::desc scratch = chosen.scratchpad_desc();
    return {dnnl::matmul(chosen),
            dnnl::memory(a, cpu_engine(), nullptr),
            dnnl::memory(b, cpu_engine(), nullptr),
            dnnl::memory(c, cpu_engine(), nullptr),
            dnnl::memory(scratch, cpu_engine(), nullptr),
            scratch.get_size()};
  } catch (const dnnl::error& error) {
    check_failed("oneDNN has a kernel for this product", __FILE__, __LINE__, error.what());
  }
}

/// One thread's kernels; oneDNN's memory objects are not to be shared while their data changes.
class ThreadProducts {
 public:
  template <class Make>
  Product& find(const Key& key, const Make& make) {
    const auto found = products_.find(key);
    if (found != products_.end()) {
      return found->second;
    }
    if (products_.size() >= kKeptProducts) {
      products_.clear();
    }
    return products_.emplace(key, make()).first->second;
  }

  void run(Product& product, const void* a, const void* b, void* c) {
    product.a.set_data_handle(const_cast<void*>(a));
    product.b.set_data_handle(const_cast<void*>(b));
    product.c.set_data_handle(c);
    product.scratch.set_data_handle(scratch(product.scratch_bytes));
    // The C++ call builds a map each time; this is what it does with it.
    const std::array<dnnl_exec_arg_t, 4> arguments = {
        {{DNNL_ARG_SRC, product.a.get()},
         {DNNL_ARG_WEIGHTS, product.b.get()},
         {DNNL_ARG_DST, product.c.get()},
         {DNNL_ARG_SCRATCHPAD, product.scratch.get()}}};
    const dnnl_status_t status = dnnl_primitive_execute(
        product.kernel.get(), stream_.get(), static_cast<int>(arguments.size()), arguments.data());
    BRIGADE_CHECK(status == dnnl_success, status);
  }

 private:
  void* scratch(size_t bytes) {
    if (bytes > scratch_bytes_) {
      scratch_bytes_ = (bytes + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment;
      scratch_.reset(std::aligned_alloc(kScratchAlignment, scratch_bytes_));
      BRIGADE_CHECK(scratch_ != nullptr, scratch_bytes_);
    }
    return scratch_.get();
  }

  dnnl::stream stream_{cpu_engine()};
  std::unordered_map<Key, Product, KeyHash> products_;
  std::unique_ptr<void, FreeDeleter> scratch_;
  size_t scratch_bytes_ = 0;
};

ThreadProducts& thread_products() {
  thread_local ThreadProducts products;
  return products;
}

/// c = 0, for a sum of no terms.
void clear(
    int64_t batch, int64_t m, int64_t n, const MatmulResult& c, const MatrixStrides& strides) {
  const int64_t bytes = size_of(c.dtype);
  for (int64_t matrix = 0; matrix < batch; ++matrix) {
    for (int64_t row = 0; row < m; ++row) {
      for (int64_t column = 0; column < n; ++column) {
        const int64_t element =
            matrix * strides.batch + row * strides.row + column * strides.column;
        std::memset(static_cast<char*>(c.data) + element * bytes, 0, static_cast<size_t>(bytes));
      }
    }
  }
}

/// Whether oneDNN's older product of plain float matrices, which copies both operands block by
/// block, serves better than its `matmul`. On Zen 4 it mostly does: 100-110 GFLOP/s instead of
/// 86-99, but 80-100 instead of 107 where it has to copy down the columns of a matrix whose rows
/// are a multiple of 4 KiB apart.
bool plain_product_suits(
    DType dtype, DType result, int64_t batch, const MatrixStrides& b, const MatrixStrides& c) {
  constexpr int64_t kConflictFloats = 1024;
  const bool copies_down = b.column != 1 && b.column % kConflictFloats == 0;
  return dtype == DType::kFloat32 && result == DType::kFloat32 && batch == 1 && c.column == 1 &&
         !copies_down;
}

/// A matrix as dnnl_sgemm wants it: the distance of its rows, or of its columns if transposed.
struct PlainMatrix {
  const float* data;
  char transposed;
  int64_t distance;

  PlainMatrix(const void* matrix, const MatrixStrides& strides)
      : data(static_cast<const float*>(matrix)),
        transposed(strides.column == 1 ? 'N' : 'T'),
        distance(strides.column == 1 ? strides.row : strides.column) {}

  /// Rows that overlap are no matrix to dnnl_sgemm.
  bool is_apart(int64_t rows, int64_t columns) const {
    return distance >= (transposed == 'N' ? columns : rows);
  }
};

void multiply_plain(int64_t m,
                    int64_t n,
                    int64_t k,
                    const PlainMatrix& a,
                    const PlainMatrix& b,
                    float* c,
                    int64_t c_row,
                    bool accumulate) {
  const dnnl_status_t status = dnnl_sgemm(a.transposed,
                                          b.transposed,
                                          m,
                                          n,
                                          k,
                                          1.0F,
                                          a.data,
                                          a.distance,
                                          b.data,
                                          b.distance,
                                          accumulate ? 1.0F : 0.0F,
                                          c,
                                          c_row);
  BRIGADE_CHECK(status == dnnl_success, status, m, n, k);
}

void multiply(DType dtype,
              int64_t batch,
              int64_t m,
              int64_t n,
              int64_t k,
              const MatmulOperand& a,
              const MatmulOperand& b,
              const MatmulResult& c,
              bool accumulate) {
  BRIGADE_CHECK(c.dtype == DType::kFloat32 || c.dtype == dtype, dtype, c.dtype);
  BRIGADE_CHECK(batch <= 1 || c.batch_stride != 0, batch);
  if (batch == 0 || m == 0 || n == 0) {
    return;
  }
  const MatrixStrides c_strides =
      plain_strides(m, n, {c.row_stride, c.column_stride, c.batch_stride});
  if (k == 0) {
    if (!accumulate) {
      clear(batch, m, n, c, c_strides);
    }
    return;
  }
  const MatrixStrides a_strides =
      plain_strides(m, k, {a.row_stride, a.column_stride, a.batch_stride});
  const MatrixStrides b_strides =
      plain_strides(k, n, {b.row_stride, b.column_stride, b.batch_stride});
  const PlainMatrix left(a.data, a_strides);
  const PlainMatrix right(b.data, b_strides);
  if (plain_product_suits(dtype, c.dtype, batch, b_strides, c_strides) && left.is_apart(m, k) &&
      right.is_apart(k, n)) {
    multiply_plain(m, n, k, left, right, static_cast<float*>(c.data), c_strides.row, accumulate);
    return;
  }
  const Key key = {{batch,
                    m,
                    n,
                    k,
                    a_strides.row,
                    a_strides.column,
                    a_strides.batch,
                    b_strides.row,
                    b_strides.column,
                    b_strides.batch,
                    c_strides.row,
                    c_strides.column,
                    c_strides.batch,
                    static_cast<int64_t>(dtype),
                    static_cast<int64_t>(c.dtype),
                    accumulate ? 1 : 0,
                    omp_in_parallel() != 0 ? 1 : omp_get_max_threads()}};
  ThreadProducts& products = thread_products();
  Product& product = products.find(key, [&] {
    return make_product(describe(dtype, batch, m, k, a_strides),
                        describe(dtype, batch, k, n, b_strides),
                        describe(c.dtype, batch, m, n, c_strides),
                        accumulate);
  });
  products.run(product, a.data, b.data, c.data);
}

bool supports(DType dtype) {
  if (dtype != DType::kFloat32 && dtype != DType::kBFloat16) {
    return false;
  }
  try {
    const dnnl::memory::desc square = describe(dtype, 1, 16, 16, {16, 1, 0});
    const dnnl::memory::desc sums = describe(DType::kFloat32, 1, 16, 16, {16, 1, 0});
    plan(square, square, sums, true);
    return true;
  } catch (const dnnl::error&) {
    return false;
  }
}

}  // namespace
}  // namespace brigade::kernels

const brigade::kernels::OneDnnModule* brigade_onednn_module() {
  static const brigade::kernels::OneDnnModule module = {brigade::kernels::multiply,
                                                        brigade::kernels::supports};
  return &module;
}
