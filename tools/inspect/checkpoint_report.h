// SPDX-License-Identifier: Apache-2.0
/// A checkpoint for a reader's eyes: head, files, tensors with who wrote what, damage.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/checkpoint/manifest.h"

namespace brigade::inspect {

/// Of the files that the manifest names.
uint64_t total_bytes(const checkpoint::Manifest& manifest);

/// Of a box as it is stored.
uint64_t box_bytes(const checkpoint::ManifestTensor& tensor, const checkpoint::ManifestBox& box);

/// "pp 2 x dp_shard 2".
std::string mesh_text(const checkpoint::Manifest& manifest);

/// What the manifest of the checkpoint at `path` says, as tables.
std::string report(const std::string& path, const checkpoint::Manifest& manifest);

/// The outcome of Checkpoint::verify().
std::string verify_report(const std::vector<std::string>& damage, uint64_t bytes_read);

}  // namespace brigade::inspect
