// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/line_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace brigade::metrics {

LineFile::LineFile(std::string path, DiskWarning& warning, Begin begin)
    : path_(std::move(path)), warning_(warning) {
  const int mode = begin == Begin::kEmpty ? O_TRUNC : O_APPEND;
  fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | mode, 0644);
  if (fd_ < 0) {
    warning_.report(path_, std::strerror(errno));
  }
}

LineFile::~LineFile() {
  if (fd_ >= 0) {
    close(fd_);
  }
}

void LineFile::write(std::string_view line) {
  if (fd_ < 0) {
    return;
  }
  std::string bytes(line);
  bytes += '\n';
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::write(fd_, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      warning_.report(path_, count < 0 ? std::strerror(errno) : "nothing was taken");
      return;
    }
    done += static_cast<size_t>(count);
  }
}

}  // namespace brigade::metrics
