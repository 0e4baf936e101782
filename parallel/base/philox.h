// SPDX-License-Identifier: Apache-2.0
/// Randomness as a function: Philox4x32-10 (Salmon et al., SC 2011), no state anywhere.
///
/// Key = seed; counter = (element's global index / 4, step, stream). A stream is the hash of
/// purpose and name, so every parameter and every dropout site has its own; the caller checks all
/// streams of a run for collisions at start. A value depends on the element's place in the *global*
/// tensor, never on the mesh.
///
/// Thread safety: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace brigade {

/// The 64-bit stream of (purpose, name): FNV-1a over "purpose\0name", fixed for all time since it
/// decides initial weights.
uint64_t random_stream(std::string_view purpose, std::string_view name);

/// Four 32-bit words for one counter.
std::array<uint32_t, 4> philox(uint64_t seed, uint64_t block, uint32_t step, uint64_t stream);

/// 24 random bits as a float in [0, 1).
float uniform_float(uint32_t word);

/// Standard normal values of elements 4 * block ... 4 * block + 3 (Box and Muller, in double,
/// rounded once): a fourth of the work of asking for each.
std::array<float, 4> normal_block(uint64_t seed, uint64_t block, uint32_t step, uint64_t stream);

/// That of element `index` alone.
float normal(uint64_t seed, uint64_t index, uint32_t step, uint64_t stream);

}  // namespace brigade
