// SPDX-License-Identifier: Apache-2.0
/// Lists of byte spans that stand for one stretch of bytes: length, slices, copies.
///
///   ConstSpans chunk = slice(parameters, 262144, 262144);   // the second 256 KiB of all of them
///
/// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace brigade::transport {

using Span = std::span<std::byte>;
using ConstSpan = std::span<const std::byte>;
using Spans = std::vector<Span>;
using ConstSpans = std::vector<ConstSpan>;

int64_t length_of(const Spans& spans);
int64_t length_of(const ConstSpans& spans);

/// Bytes [offset, offset + length) without empty pieces; the range must lie within.
Spans slice(const Spans& spans, int64_t offset, int64_t length);
ConstSpans slice(const ConstSpans& spans, int64_t offset, int64_t length);

ConstSpans as_const(const Spans& spans);

/// Both of equal length; bytes that are the same memory at the same place stay.
void copy(const ConstSpans& from, const Spans& to);

}  // namespace brigade::transport
