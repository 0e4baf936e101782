// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/staged_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>
#include <utility>
#include <vector>

#include "parallel/base/text.h"

namespace brigade::checkpoint {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> io_error(const std::string& path, const char* what) {
  const int number = errno;
  return fail(ErrorCode::kIo, concat(path, " ", what, ": ", std::strerror(number)));
}

fs::path parent_of(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<void> write_all(int descriptor, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t done = ::write(descriptor, text.data(), text.size());
    if (done < 0 && errno == EINTR) {
      continue;
    }
    if (done < 0) {
      return io_error(path, "cannot be written");
    }
    text.remove_prefix(static_cast<size_t>(done));
  }
  return ::fsync(descriptor) == 0 ? Result<void>()
                                  : io_error(path, "cannot be flushed to the disk");
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
  const std::string path = parent_of(place) / concat('.', name, ".saving");
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
    return io_error(target_, "cannot be renamed to");
  }
  return flush_folder(parent_of(target_));
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
      return io_error(to, "cannot be renamed to");
    }
  }
  if (Result<void> flushed = flush_folder(target_); !flushed) {
    return flushed;
  }
  for (const std::string& name : names_in(target_)) {
    const std::string path = fs::path(target_) / name;
    const bool fresh = std::find(names.begin(), names.end(), name) != names.end();
    if (!fresh && stale(name) && ::unlink(path.c_str()) != 0) {
      return io_error(path, "cannot be removed");
    }
  }
  return flush_folder(target_);
}

Result<void> flush_folder(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) {
    return io_error(folder, "cannot be opened");
  }
  const auto result = ::fsync(descriptor) == 0
                          ? Result<void>()
                          : Result<void>(io_error(folder, "cannot be flushed to the disk"));
  ::close(descriptor);
  return result;
}

Result<void> write_text_file(const std::string& path, std::string_view text) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    return io_error(path, "cannot be created");
  }
  Result<void> done = write_all(descriptor, text, path);
  if (::close(descriptor) != 0 && done) {
    done = io_error(path, "cannot be closed");
  }
  return done;
}

}  // namespace brigade::checkpoint
