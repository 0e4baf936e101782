// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/sum.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "parallel/base/binary_tree.h"
#include "parallel/base/check.h"
#include "parallel/kernels/convert.h"
#include "parallel/kernels/dispatch.h"

namespace brigade::kernels {
namespace {

constexpr int64_t kBlock = 1024;  // elements: 4 KiB rows of floats, a few of which fit into L1

// NaN wins from either side: if a is NaN it is taken, if b is NaN no comparison holds.
template <class T>
[[gnu::always_inline]] inline T larger(T a, T b) {
  return a > b || a != a ? a : b;
}

template <class T>
[[gnu::always_inline]] inline T smaller(T a, T b) {
  return a < b || a != a ? a : b;
}

template <class T>
[[gnu::always_inline]] inline void join_rows(
    TermOp op, const T* a, const T* b, T* out, int64_t count) {
  switch (op) {
    case TermOp::kSum:
      for (int64_t i = 0; i < count; ++i) {
        out[i] = static_cast<T>(a[i] + b[i]);
      }
      return;
    case TermOp::kMax:
      for (int64_t i = 0; i < count; ++i) {
        out[i] = larger(a[i], b[i]);
      }
      return;
    case TermOp::kMin:
      for (int64_t i = 0; i < count; ++i) {
        out[i] = smaller(a[i], b[i]);
      }
      return;
  }
}

// Integers travel as unsigned so that sums wrap instead of being undefined; signed ones bring their
// own comparison.
template <class Signed, class Unsigned>
[[gnu::always_inline]] inline void join_integers(
    TermOp op, const Signed* a, const Signed* b, Signed* out, int64_t count) {
  if (op != TermOp::kSum) {
    join_rows(op, a, b, out, count);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    out[i] = static_cast<Signed>(static_cast<Unsigned>(a[i]) + static_cast<Unsigned>(b[i]));
  }
}

BRIGADE_CLONES void join(TermOp op, const float* a, const float* b, float* out, int64_t count) {
  join_rows(op, a, b, out, count);
}

BRIGADE_CLONES void join(TermOp op, const double* a, const double* b, double* out, int64_t count) {
  join_rows(op, a, b, out, count);
}

BRIGADE_CLONES void join(
    TermOp op, const int64_t* a, const int64_t* b, int64_t* out, int64_t count) {
  join_integers<int64_t, uint64_t>(op, a, b, out, count);
}

BRIGADE_CLONES void join(
    TermOp op, const int32_t* a, const int32_t* b, int32_t* out, int64_t count) {
  join_integers<int32_t, uint32_t>(op, a, b, out, count);
}

BRIGADE_CLONES void join(
    TermOp op, const uint8_t* a, const uint8_t* b, uint8_t* out, int64_t count) {
  join_rows(op, a, b, out, count);
}

/// The terms as rows of `T` at one block's offset.
template <class T>
struct PlainRows {
  std::span<const std::byte* const> terms;
  int64_t offset;

  const T* row(int64_t term, T* /*room*/, int64_t /*count*/) const {
    return reinterpret_cast<const T*>(terms[static_cast<size_t>(term)]) + offset;
  }
};

/// bf16 terms, widened into the room that is given.
struct WidenedRows {
  std::span<const std::byte* const> terms;
  int64_t offset;

  const float* row(int64_t term, float* room, int64_t count) const {
    const auto* bf16 = reinterpret_cast<const BFloat16*>(terms[static_cast<size_t>(term)]);
    widen_rows(1, count, bf16 + offset, count, room, count);
    return room;
  }
};

/// One block of tree_sum(lo, hi). Partial results live in local rows, so that `out` is written
/// after every term has been read and may alias one.
template <class T, class Rows>
void join_block(const Rows& rows, TermOp op, int64_t lo, int64_t hi, T* out, int64_t count) {
  alignas(64) std::array<T, kBlock> left_room;
  alignas(64) std::array<T, kBlock> right_room;
  const auto side = [&](int64_t from, int64_t to, T* room) -> const T* {
    if (to - from == 1) {
      return rows.row(from, room, count);
    }
    join_block(rows, op, from, to, room, count);
    return room;
  };
  const int64_t middle = lo + tree_split(hi - lo);
  const T* left = side(lo, middle, left_room.data());
  const T* right = side(middle, hi, right_room.data());
  join(op, left, right, out, count);
}

template <class T>
void join_plain(std::span<const std::byte* const> terms, std::byte* out, int64_t count, TermOp op) {
  const int64_t width = static_cast<int64_t>(terms.size());
  for (int64_t at = 0; at < count; at += kBlock) {
    join_block(PlainRows<T>{terms, at},
               op,
               0,
               width,
               reinterpret_cast<T*>(out) + at,
               std::min(kBlock, count - at));
  }
}

void join_bf16(std::span<const std::byte* const> terms, std::byte* out, int64_t count, TermOp op) {
  const int64_t width = static_cast<int64_t>(terms.size());
  alignas(64) std::array<float, kBlock> total;
  for (int64_t at = 0; at < count; at += kBlock) {
    const int64_t length = std::min(kBlock, count - at);
    join_block(WidenedRows{terms, at}, op, 0, width, total.data(), length);
    narrow_rows(1, length, total.data(), length, reinterpret_cast<BFloat16*>(out) + at, length);
  }
}

}  // namespace

void sum_terms(std::span<const std::byte* const> terms,
               std::byte* out,
               int64_t count,
               DType dtype,
               TermOp op) {
  BRIGADE_CHECK(!terms.empty() && count >= 0, terms.size(), count);
  BRIGADE_CHECK(dtype != DType::kBool || op != TermOp::kSum, "booleans have no sum");
  if (terms.size() == 1) {
    if (out != terms[0] && count > 0) {
      std::memcpy(out, terms[0], static_cast<size_t>(count * size_of(dtype)));
    }
    return;
  }
  switch (dtype) {
    case DType::kFloat32: return join_plain<float>(terms, out, count, op);
    case DType::kBFloat16: return join_bf16(terms, out, count, op);
    case DType::kFloat64: return join_plain<double>(terms, out, count, op);
    case DType::kInt64: return join_plain<int64_t>(terms, out, count, op);
    case DType::kInt32: return join_plain<int32_t>(terms, out, count, op);
    case DType::kUInt8:
    case DType::kBool: return join_plain<uint8_t>(terms, out, count, op);
  }
}

}  // namespace brigade::kernels
