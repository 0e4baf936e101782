// SPDX-License-Identifier: Apache-2.0
/// A manifest with one of everything, for tests of its text.
#pragma once

#include "trainer/checkpoint/manifest.h"

namespace brigade::checkpoint {

inline Manifest manifest_case() {
  Manifest manifest;
  manifest.run = "00000000000000aa";
  manifest.saved_at = "2026-11-30T05:40:00Z";
  manifest.counters = {.step = 6, .samples = 72, .tokens = 1152, .updates = 5, .skips_in_a_row = 1};
  manifest.recipe = {{"model.dim", "32"}, {"job.description", "a \"name\""}};
  manifest.recipe_hash = "0000000000000001";
  manifest.facts = {{"global_batch", "12"}};
  manifest.mesh = {{"pp", 1}, {"dp_shard", 2}};
  manifest.block_bytes = 16;
  manifest.files = {{"rank-00000.safetensors", 0, 100, 40, 0x01234567},
                    {"rank-00001.safetensors", 1, 140, 80, 0x89abcdef}};
  ManifestBox upper;
  upper.box = {{{0, 3}, {0, 2}}};
  upper.file = 0;
  upper.offset = 40;
  upper.crc32c = {1, 2};
  ManifestBox lower;
  lower.box = {{{3, 5}, {0, 2}}};
  lower.file = 1;
  lower.offset = 80;
  lower.crc32c = {3};
  manifest.tensors["w"] = {ElementType::kF32, {5, 2}, {upper, lower}};
  ManifestBox scalar;
  scalar.file = 1;
  scalar.offset = 96;
  scalar.crc32c = {4};
  manifest.tensors["s"] = {ElementType::kBF16, {}, {scalar}};
  manifest.tensors["nothing"] = {ElementType::kF32, {0, 4}, {}};
  return manifest;
}

}  // namespace brigade::checkpoint
