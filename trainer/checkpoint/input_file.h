// SPDX-License-Identifier: Apache-2.0
/// InputFile: a plain file of a known size, read at any place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "parallel/base/result.h"

namespace brigade::checkpoint {

/// Thread safety: const calls, safe.
class InputFile {
 public:
  /// Errors: kIo when it cannot be opened; kData when it is a symbolic link or no plain file.
  static Result<InputFile> open(std::string path);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }

  /// Fills `out` from byte `offset` on.
  /// Errors: kIo; kData when the file ends before.
  Result<void> read(uint64_t offset, std::span<std::byte> out) const;

 private:
  InputFile(std::string path, int descriptor, uint64_t size)
      : path_(std::move(path)), descriptor_(descriptor), size_(size) {}

  std::string path_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

/// All of a plain file, if it has at most `most` bytes.
/// Errors: InputFile's; kData when it is larger.
Result<std::string> read_text(const std::string& path, uint64_t most);

}  // namespace brigade::checkpoint
