// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/output_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>
#include <utility>

#include "parallel/base/text.h"

namespace brigade::checkpoint {

tl::unexpected<Error> system_error(std::string_view path, std::string_view what) {
  const int number = errno;
  return fail(ErrorCode::kIo, concat(path, " ", what, ": ", std::strerror(number)));
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

Result<void> flush_folder(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) {
    return system_error(path, "cannot be opened as a folder");
  }
  const bool flushed = ::fsync(descriptor) == 0;
  const Result<void> result =
      flushed ? Result<void>() : system_error(path, "is a folder that cannot be flushed");
  ::close(descriptor);
  return result;
}

OutputFile::OutputFile(std::string path, std::string shown, int descriptor)
    : path_(std::move(path)), shown_(std::move(shown)), descriptor_(descriptor) {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      shown_(std::move(other.shown_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(shown_, other.shown_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
  if (!path_.empty()) {
    ::unlink(path_.c_str());
  }
}

Result<OutputFile> OutputFile::create(std::string path, std::string shown) {
  if (shown.empty()) {
    shown = path;
  }
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    return system_error(shown, "cannot be created");
  }
  return OutputFile(std::move(path), std::move(shown), descriptor);
}

Result<void> OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(descriptor_, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) {
      continue;
    }
    if (done < 0) {
      return system_error(shown_, "cannot be written");
    }
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
  return {};
}

Result<void> OutputFile::write(std::string_view text) {
  return write(std::as_bytes(std::span(text)));
}

Result<void> OutputFile::close() {
  if (::fsync(descriptor_) != 0) {
    return system_error(shown_, "cannot be flushed to the disk");
  }
  // close() reports what some network file systems found out late.
  if (::close(std::exchange(descriptor_, -1)) != 0) {
    return system_error(shown_, "cannot be closed");
  }
  return {};
}

Result<void> OutputFile::finish() {
  const Result<void> closed = close();
  if (closed) {
    path_.clear();
  }
  return closed;
}

Result<void> OutputFile::finish_as(const std::string& target) {
  const Result<void> closed = close();
  if (!closed) {
    return closed;
  }
  if (std::rename(path_.c_str(), target.c_str()) != 0) {
    return system_error(shown_, "cannot be renamed");
  }
  path_.clear();
  return flush_folder(folder_of(target));
}

}  // namespace brigade::checkpoint
