// SPDX-License-Identifier: Apache-2.0
/// The folder of a run's checkpoints: names, the rename that publishes, removal.
/// docs/CHECKPOINT_FORMAT.md.
///
/// Only the process that holds the folder's lock (folder_lock.h) may call what changes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/base/result.h"

namespace brigade::checkpoint {

/// "FOLDER/step-100", "FOLDER/.step-100.saving".
std::string step_path(const std::string& folder, int64_t step);
std::string staging_path(const std::string& folder, int64_t step);

/// The step of a plain folder name such as "step-100"; nothing for any other name.
std::optional<int64_t> step_of(std::string_view name);

/// All steps that have a folder, whole or not, the newest first. No folder, no steps.
/// Errors: kIo.
Result<std::vector<int64_t>> list_steps(const std::string& folder);

/// Makes the folder, with those above it.
/// Errors: kIo naming what is in the way.
Result<void> make_folder(const std::string& folder);

/// Removes what runs that died left behind; returns a line about each.
/// Errors: kIo.
Result<std::vector<std::string>> remove_leftovers(const std::string& folder);

/// Makes an empty staging folder for a step.
/// Errors: kIo.
Result<void> make_staging(const std::string& folder, int64_t step);
/// Removes it with what it holds, as far as that goes: for the way out of a failure.
void drop_staging(const std::string& folder, int64_t step);

/// Makes the staging folder the step's. What it holds is on the disk already. A checkpoint that was
/// there is replaced in one move and removed as far as that goes.
/// Errors: kIo; also where the step exists and the file system cannot exchange two folders.
Result<void> publish(const std::string& folder, int64_t step);

/// Removes a published checkpoint: it is gone at once, its bytes a moment later.
/// Errors: kIo.
Result<void> purge(const std::string& folder, int64_t step);

/// Bytes that this process may still write there.
/// Errors: kIo.
Result<uint64_t> free_bytes(const std::string& folder);

}  // namespace brigade::checkpoint
