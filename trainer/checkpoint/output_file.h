// SPDX-License-Identifier: Apache-2.0
/// OutputFile: a file that is on the disk when finish() says so, and gone when that was not said.
///
///   Result<OutputFile> file = OutputFile::create(path);
///   file->write(bytes) ... file->finish(); flush_folder(folder);
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "parallel/base/result.h"

namespace brigade::checkpoint {

/// Errors: kIo with the path and the system's words, from each call.
/// Thread safety: belongs to one thread.
class OutputFile {
 public:
  /// A new, empty file in the place of what had the name; of a link, not of what it points to.
  static Result<OutputFile> create(std::string path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  /// Removes the file, unless it was finished.
  ~OutputFile();

  Result<void> write(std::span<const std::byte> bytes);
  /// Flushes to the disk and closes.
  Result<void> finish();
  /// The same, and gives it another name in its folder, in one move.
  Result<void> finish_as(const std::string& path);

 private:
  OutputFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  std::string path_;
  int descriptor_ = -1;
};

/// Brings the names in a folder to the disk; "" is the current one.
Result<void> flush_folder(const std::string& folder);

/// "PATH WHAT: No space left on device" (errno's words) as kIo.
tl::unexpected<Error> system_error(std::string_view path, std::string_view what);

/// A whole file of `text`, on the disk; its name is not flushed.
Result<void> write_durably(const std::string& path, std::string_view text);

/// The same, in one move: until then `path` is what it was. Uses the name `path`.new meanwhile.
Result<void> replace_durably(const std::string& path, std::string_view text);

}  // namespace brigade::checkpoint
