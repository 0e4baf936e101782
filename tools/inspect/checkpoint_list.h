// SPDX-License-Identifier: Apache-2.0
/// The checkpoints of a folder, a line each; and the one checkpoint that a path means.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "parallel/base/result.h"
#include "trainer/checkpoint/checkpoint.h"

namespace brigade::inspect {

/// The steps that have a folder in `path`, the newest first; none when `path` is a step folder
/// itself, or nothing that could be listed.
std::vector<int64_t> steps_in(const std::string& path);

/// "step-10  complete  run ...  2026-11-30T05:40:00Z  1,234 (1.2 KiB)", or why it is none. Reads
/// manifests and sizes of files alone.
std::string list_report(const std::string& path, const std::vector<int64_t>& steps);

/// The checkpoint in a step folder.
/// Errors: Checkpoint::open's; kUsage where a path is no step folder but there are some in it, or
/// in a folder below, naming one.
Result<std::unique_ptr<checkpoint::Checkpoint>> open_step(const std::string& path);

}  // namespace brigade::inspect
