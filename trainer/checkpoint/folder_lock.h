// SPDX-License-Identifier: Apache-2.0
/// FolderLock: the right of one process to change a folder, of checkpoints mostly, until it ends in
/// whatever way. The file says who has it, and which run wrote there last.
#pragma once

#include <memory>
#include <string>

#include "parallel/base/result.h"

namespace brigade::checkpoint {

/// What messages say of the folder.
struct LockWords {
  std::string cannot = "checkpoints cannot be saved in";
  std::string taken = "another run saves its checkpoints in";
  std::string remedy =
      "stop it, or give this one a job.dump_folder or checkpoint.folder of its own";
};

class FolderLock {
 public:
  /// Takes `folder`/lock. `folder` exists.
  /// Errors: kIo naming the owner (host, process, since when); or that the folder may not be
  /// written.
  static Result<std::unique_ptr<FolderLock>> take(const std::string& folder,
                                                  const LockWords& words = {});
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  /// Writes down the run that writes here from now on.
  Result<void> set_run(const std::string& run);

 private:
  FolderLock(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  std::string path_;
  int descriptor_;
};

/// The run that wrote there last; "" where none did.
std::string last_run(const std::string& folder);

}  // namespace brigade::checkpoint
