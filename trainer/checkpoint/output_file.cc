// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/output_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include "parallel/base/text.h"

namespace brigade::checkpoint {

tl::unexpected<Error> system_error(std::string_view path, std::string_view what) {
  const int number = errno;
  return fail(ErrorCode::kIo, concat(path, " ", what, ": ", std::strerror(number)));
}

Result<OutputFile> OutputFile::create(std::string path) {
  // Not O_TRUNC: it would follow a link to somebody's file.
  ::unlink(path.c_str());
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    return system_error(path, "cannot be created");
  }
  return OutputFile(std::move(path), descriptor);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
    ::unlink(path_.c_str());
  }
}

Result<void> OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(descriptor_, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) {
      continue;
    }
    if (done < 0) {
      return system_error(path_, "cannot be written");
    }
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
  return {};
}

Result<void> OutputFile::finish() {
  if (::fsync(descriptor_) != 0) {
    return system_error(path_, "cannot be flushed to the disk");
  }
  // close() reports what some network file systems found out late.
  if (::close(std::exchange(descriptor_, -1)) != 0) {
    const Result<void> failed = system_error(path_, "cannot be closed");
    ::unlink(path_.c_str());
    return failed;
  }
  return {};
}

Result<void> OutputFile::finish_as(const std::string& path) {
  if (Result<void> finished = finish(); !finished) {
    return finished;
  }
  if (std::rename(path_.c_str(), path.c_str()) != 0) {
    const Result<void> failed = system_error(path, "cannot be renamed");
    ::unlink(path_.c_str());
    return failed;
  }
  return {};
}

Result<void> flush_folder(const std::string& folder) {
  const std::string path = folder.empty() ? "." : folder;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) {
    return system_error(path, "cannot be opened");
  }
  const Result<void> flushed = ::fsync(descriptor) == 0
                                   ? Result<void>()
                                   : system_error(path, "cannot be flushed to the disk");
  ::close(descriptor);
  return flushed;
}

Result<void> write_durably(const std::string& path, std::string_view text) {
  Result<OutputFile> file = OutputFile::create(path);
  if (!file) {
    return fail(file.error());
  }
  return file->write(std::as_bytes(std::span(text))).and_then([&] { return file->finish(); });
}

Result<void> replace_durably(const std::string& path, std::string_view text) {
  Result<OutputFile> file = OutputFile::create(path + ".new");
  if (!file) {
    return fail(file.error());
  }
  return file->write(std::as_bytes(std::span(text))).and_then([&] {
    return file->finish_as(path);
  });
}

}  // namespace brigade::checkpoint
