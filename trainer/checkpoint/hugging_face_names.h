// SPDX-License-Identifier: Apache-2.0
/// Between the names and shapes of Hugging Face's files and ours. They are the same but for a few:
/// original GPT-2 files have no "transformer.", some files carry buffers that are no parameters,
/// and
/// GPT-2's fused q, k, v are two dims here: [in, 3 * dim] is [in, 3, dim]. No element ever moves.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "parallel/sharding/interval.h"

namespace brigade::checkpoint {

/// Our name of a tensor in a file of `family` ("llama3" or "gpt2"); nothing for a buffer: GPT-2's
/// causal masks, Llama's rotary frequencies.
std::optional<std::string> name_from_hugging_face(std::string_view family, std::string_view name);

/// By our name; a shape that cannot be split stays, and is refused where sizes are compared.
sharding::Shape shape_from_hugging_face(std::string_view name, const sharding::Shape& shape);
sharding::Shape shape_in_hugging_face(std::string_view name, const sharding::Shape& shape);

/// Whether the name is one of Meta's own files of Llama, whose rotary pairs lie interleaved.
bool is_metas_name(std::string_view name);

}  // namespace brigade::checkpoint
