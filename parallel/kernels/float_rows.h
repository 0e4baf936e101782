// SPDX-License-Identifier: Apache-2.0
/// Rows of either element type as the floats that a product works on: where they lie if they are
/// floats, else in a room that the caller has for them.
///
///   const FloatRows<const float> x = as_floats(64, 128, q, q_stride, room, 128);
///   const FloatRows<float> y = rows_for(o, o_stride, other_room, 128);
///   product(x.data, x.row_stride, y.data, y.row_stride);
///   deliver(64, 128, y, o, o_stride);
///
/// Ownership: data and room are the caller's.
#pragma once

#include <concepts>
#include <cstdint>

#include "parallel/kernels/convert.h"
#include "parallel/kernels/element.h"

namespace brigade::kernels {

template <class F>
struct FloatRows {
  F* data;
  int64_t row_stride;
};

/// To read.
template <Element T>
FloatRows<const float> as_floats(int64_t rows,
                                 int64_t columns,
                                 const T* data,
                                 int64_t row_stride,
                                 float* room,
                                 int64_t room_stride) {
  if constexpr (std::same_as<T, float>) {
    return {data, row_stride};
  } else {
    widen_rows(rows, columns, data, row_stride, room, room_stride);
    return {room, room_stride};
  }
}

/// To write, before deliver().
template <Element T>
FloatRows<float> rows_for(T* data, int64_t row_stride, float* room, int64_t room_stride) {
  if constexpr (std::same_as<T, float>) {
    return {data, row_stride};
  } else {
    return {room, room_stride};
  }
}

/// Rounds finished rows of rows_for() to where they belong.
template <Element T>
void deliver(
    int64_t rows, int64_t columns, const FloatRows<float>& from, T* data, int64_t row_stride) {
  if constexpr (std::same_as<T, BFloat16>) {
    narrow_rows(rows, columns, from.data, from.row_stride, data, row_stride);
  }
}

}  // namespace brigade::kernels
