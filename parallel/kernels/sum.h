// SPDX-License-Identifier: Apache-2.0
/// Joins terms of equal length element by element, along the fixed tree of
/// parallel/base/binary_tree.h.
///
///   const std::array<const std::byte*, 2> terms = {mine, theirs};
///   sum_terms(terms, mine, count, DType::kFloat32, TermOp::kSum);
///
/// Order:         tree_sum(0, terms.size()) per element, whatever the length or alignment.
/// Precision:     f32 and bf16 add in fp32 (bf16 rounds once, at the end), f64 in fp64, integers
///                exactly modulo 2^bits. kMax and kMin give NaN where a term is NaN.
/// Aliasing:      `out` may be one of the terms; else no overlap.
/// Alignment:     every pointer to the element's size.
/// Cost:          memory speed: each term is read once, `out` written once; terms are walked in
///                blocks that stay in the first-level cache.
/// Thread safety: pure function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "parallel/base/dtype.h"

namespace brigade::kernels {

enum class TermOp : uint8_t { kSum, kMax, kMin };

/// Booleans have a maximum (or) and a minimum (and) but no sum. At least one term.
void sum_terms(
    std::span<const std::byte* const> terms, std::byte* out, int64_t count, DType dtype, TermOp op);

}  // namespace brigade::kernels
