// SPDX-License-Identifier: Apache-2.0
/// A checkpoint for a program's eyes: the facts of checkpoint_report.h as one JSON object.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trainer/checkpoint/manifest.h"

namespace brigade::inspect {

/// Keys: path, run, step, saved_at, model_only, counters, recipe_hash, recipe, mesh, facts, bytes,
/// files (name, rank, bytes), tensors (name -> dtype, shape, boxes of begin, end, rank, file,
/// bytes), and where `damage` is given, that list of texts.
std::string json_report(const std::string& path,
                        const checkpoint::Manifest& manifest,
                        const std::optional<std::vector<std::string>>& damage);

}  // namespace brigade::inspect
