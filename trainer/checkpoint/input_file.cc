// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/input_file.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "parallel/base/text.h"
#include "trainer/checkpoint/output_file.h"

namespace brigade::checkpoint {
Result<InputFile> InputFile::open(std::string path) {
  const int descriptor =
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);  // a pipe may not block
  if (descriptor < 0 && errno == ELOOP) {
    return fail(ErrorCode::kData, path + " is a symbolic link; expected a file");
  }
  if (descriptor < 0) {
    return system_error(path, "cannot be opened");
  }
  InputFile file(std::move(path), descriptor, 0);
  struct stat facts = {};
  if (::fstat(descriptor, &facts) != 0) {
    return system_error(file.path_, "has a size that cannot be read");
  }
  if (!S_ISREG(facts.st_mode)) {
    return fail(ErrorCode::kData, file.path_ + " is no file");
  }
  file.size_ = static_cast<uint64_t>(facts.st_size);
  return file;
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_) {}

InputFile::~InputFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

Result<void> InputFile::read(uint64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t got = ::pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return system_error(path_, "cannot be read");
    }
    if (got == 0) {
      return fail(ErrorCode::kData, concat(path_, " ends at byte ", offset));
    }
    offset += static_cast<uint64_t>(got);
    out = out.subspan(static_cast<size_t>(got));
  }
  return {};
}

Result<std::string> read_text(const std::string& path, uint64_t most) {
  const Result<InputFile> file = InputFile::open(path);
  if (!file) {
    return fail(file.error());
  }
  if (file->size() > most) {
    return fail(ErrorCode::kData,
                concat(path, " has ", file->size(), " bytes; expected at most ", most));
  }
  std::string text(file->size(), '\0');
  if (Result<void> read = file->read(0, std::as_writable_bytes(std::span(text))); !read) {
    return fail(read.error());
  }
  return text;
}

}  // namespace brigade::checkpoint
