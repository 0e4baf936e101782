// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/staged_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>
#include <utility>
#include <vector>

#include "parallel/base/text.h"
#include "trainer/checkpoint/output_file.h"

namespace brigade::checkpoint {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

Result<StagedFolder> StagedFolder::begin(const std::string& target) {
  std::string place = fs::path(target).lexically_normal();
  while (place.size() > 1 && place.back() == '/') {
    place.pop_back();
  }
  const std::string name = fs::path(place).filename();
  if (name.empty() || name == "." || name == "..") {
    return fail(ErrorCode::kUsage, concat("expected the path of a folder; found \"", target, '"'));
  }
  const std::string path =
      fs::path(fs::path(place).parent_path().string()) / concat('.', name, ".saving");
  std::error_code error;
  fs::remove_all(path, error);
  fs::create_directories(path, error);
  if (error) {
    return fail(ErrorCode::kIo, concat(path, " cannot be made: ", error.message()));
  }
  return StagedFolder(place, path);
}

StagedFolder::StagedFolder(std::string target, std::string path)
    : target_(std::move(target)), path_(std::move(path)) {}

StagedFolder::StagedFolder(StagedFolder&& other) noexcept
    : target_(std::move(other.target_)), path_(std::exchange(other.path_, {})) {}

StagedFolder::~StagedFolder() {
  if (!path_.empty()) {
    std::error_code error;
    fs::remove_all(path_, error);
  }
}

Result<void> StagedFolder::publish() {
  if (Result<void> flushed = flush_folder(path_); !flushed) {
    return flushed;
  }
  // Over nothing, or over an empty folder.
  int failed = std::rename(path_.c_str(), target_.c_str());
  if (failed != 0 && (errno == ENOTEMPTY || errno == EEXIST)) {
    failed = ::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE);
  } else if (failed == 0) {
    path_.clear();
  }
  if (failed != 0) {
    return system_error(target_, "cannot be renamed to");
  }
  return flush_folder(fs::path(target_).parent_path().string());
}

Result<void> StagedFolder::publish_into(const std::string& last,
                                        const std::function<bool(std::string_view)>& stale) {
  std::vector<std::string> names = names_in(path_);
  std::stable_partition(
      names.begin(), names.end(), [&last](const std::string& name) { return name != last; });
  for (const std::string& name : names) {
    const std::string from = fs::path(path_) / name;
    const std::string to = fs::path(target_) / name;
    if (std::rename(from.c_str(), to.c_str()) != 0) {
      return system_error(to, "cannot be renamed to");
    }
  }
  if (Result<void> flushed = flush_folder(target_); !flushed) {
    return flushed;
  }
  for (const std::string& name : names_in(target_)) {
    const std::string path = fs::path(target_) / name;
    const bool fresh = std::find(names.begin(), names.end(), name) != names.end();
    if (!fresh && stale(name) && ::unlink(path.c_str()) != 0) {
      return system_error(path, "cannot be removed");
    }
  }
  return flush_folder(target_);
}

}  // namespace brigade::checkpoint
