// SPDX-License-Identifier: Apache-2.0
/// StagedFolder: a folder that is written beside its place and appears there when it is complete.
///
///   auto staged = StagedFolder::begin("out/model");
///   ... write into staged->path(), "out/.model.saving" ...
///   staged->publish();
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "parallel/base/result.h"

namespace brigade::checkpoint {

/// Removed with what is in it unless published. What another run left under its name is removed
/// when it begins.
class StagedFolder {
 public:
  /// Errors: kUsage for a path that names no folder; kIo.
  static Result<StagedFolder> begin(const std::string& target);
  StagedFolder(StagedFolder&& other) noexcept;
  StagedFolder& operator=(StagedFolder&& other) = delete;
  ~StagedFolder();

  const std::string& path() const { return path_; }

  /// By one rename; a folder of that name changes places with this one and is removed.
  /// Errors: kIo; the target is then as it was.
  Result<void> publish();

  /// Moves the files, one by one and `last` as the last, into the folder that is there, then
  /// removes those of its other files that are `stale`.
  /// Errors: kIo.
  Result<void> publish_into(const std::string& last,
                            const std::function<bool(std::string_view name)>& stale);

 private:
  StagedFolder(std::string target, std::string path);

  std::string target_;
  std::string path_;
};

}  // namespace brigade::checkpoint
