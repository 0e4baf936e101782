// SPDX-License-Identifier: Apache-2.0
/// The units of a decoder - what is gathered, reduced and recomputed together: the embedding, each
/// block, the final norm and head - and which of them a pipeline stage holds.
///
///   unit_names(4, 1, 2)   // {"block.2", "block.3", "head"}
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/sharding/interval.h"

namespace brigade::decoder {

inline constexpr std::string_view kEmbeddingUnit = "embedding";
inline constexpr std::string_view kHeadUnit = "head";

/// Blocks [begin, end) of a stage.
sharding::Interval stage_layers(int64_t layers, int64_t stage, int64_t stages);

std::string block_unit(int64_t layer);
/// The layer of a block's unit; CHECKs that it is one.
int64_t layer_of(std::string_view unit);

/// Of one stage, in forward order: the embedding on the first, the head on the last.
std::vector<std::string> unit_names(int64_t layers, int64_t stage, int64_t stages);

}  // namespace brigade::decoder
