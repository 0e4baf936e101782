// SPDX-License-Identifier: Apache-2.0
/// What a program without checkpoints would do: one file, from the first byte to the last.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "parallel/base/result.h"

namespace brigade::bench {

/// Writes a new file in pieces of a MiB and flushes it to the disk.
/// Errors: kIo, here and below.
Result<void> write_plainly(const std::string& path, std::span<const std::byte> bytes);

/// Reads as many bytes as `bytes` has, in pieces of a MiB.
Result<void> read_plainly(const std::string& path, std::span<std::byte> bytes);

/// Asks the system to forget what it holds of the folder's files, so that the next reader meets the
/// disk. They have to be on the disk.
Result<void> forget(const std::string& folder);

}  // namespace brigade::bench
