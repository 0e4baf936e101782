// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/hugging_face_names.h"

namespace brigade::checkpoint {
namespace {

bool is_fused(std::string_view name) {
  return name.ends_with(".attn.c_attn.weight") || name.ends_with(".attn.c_attn.bias");
}

bool is_buffer(std::string_view family, std::string_view name) {
  return family == "gpt2" ? name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias")
                          : name.ends_with(".rotary_emb.inv_freq");
}

}  // namespace

std::optional<std::string> name_from_hugging_face(std::string_view family, std::string_view name) {
  if (is_buffer(family, name)) {
    return std::nullopt;
  }
  const bool bare =
      family == "gpt2" && !name.starts_with("transformer.") && !name.starts_with("lm_head.");
  return (bare ? "transformer." : "") + std::string(name);
}

sharding::Shape shape_from_hugging_face(std::string_view name, const sharding::Shape& shape) {
  if (!is_fused(name) || shape.empty() || shape.back() % 3 != 0) {
    return shape;
  }
  sharding::Shape split = shape;
  split.back() = 3;
  split.push_back(shape.back() / 3);
  return split;
}

sharding::Shape shape_in_hugging_face(std::string_view name, const sharding::Shape& shape) {
  if (!is_fused(name) || shape.size() < 2) {
    return shape;
  }
  sharding::Shape joined(shape.begin(), shape.end() - 1);
  joined.back() *= shape.back();
  return joined;
}

bool is_metas_name(std::string_view name) {
  return name == "tok_embeddings.weight" || name.ends_with(".attention.wq.weight") ||
         name.ends_with(".attention.wk.weight") || name.ends_with(".feed_forward.w1.weight");
}

}  // namespace brigade::checkpoint
