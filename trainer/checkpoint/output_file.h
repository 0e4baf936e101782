// SPDX-License-Identifier: Apache-2.0
/// OutputFile: a file being written, gone unless it is finished.
///
///   Result<OutputFile> file = OutputFile::create(folder + "/manifest.json");
///   file->write(text);
///   file->finish();           // on the disk, and stays
///   flush_folder(folder);     // so does its name
///
/// Every error is kIo and has the path and the system's words.
/// Thread safety: belongs to one thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "parallel/base/result.h"

namespace brigade::checkpoint {

class OutputFile {
 public:
  /// Makes `path`, which must not exist yet, not even as a link. Messages call it `shown`, or by
  /// its path.
  static Result<OutputFile> create(std::string path, std::string shown = {});

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  /// Removes what was not finished.
  ~OutputFile();

  const std::string& path() const { return path_; }

  /// All of it, behind what was written.
  Result<void> write(std::span<const std::byte> bytes);
  Result<void> write(std::string_view text);

  /// Flushes to the disk and closes. From here on the file stays. Called once, nothing after it.
  Result<void> finish();

  /// The same under the name `target` of the same folder, whose file it replaces; the folder is
  /// flushed. On failure `target` is untouched, unless it was only the folder that could not be
  /// flushed.
  Result<void> finish_as(const std::string& target);

 private:
  OutputFile(std::string path, std::string shown, int descriptor);

  Result<void> close();

  std::string path_;  // empty: nothing to remove
  std::string shown_;
  int descriptor_ = -1;
};

/// Makes the names in a folder survive a crash: files made, renamed or removed in it.
Result<void> flush_folder(const std::string& path);

/// The folder that a path names an entry of: "." for a plain name.
std::string folder_of(const std::string& path);

/// "PATH WHAT: No space left on device" (errno's words) as kIo.
tl::unexpected<Error> system_error(std::string_view path, std::string_view what);

}  // namespace brigade::checkpoint
