// SPDX-License-Identifier: Apache-2.0
#include "trainer/launch/failure_report.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include "parallel/base/text.h"

namespace brigade::launch {
namespace {

constexpr char kMagic[] = "brigade-failure";

/// The inherited descriptor, or -1.
int report_descriptor() {
  const char* text = std::getenv(kReportVariable);
  if (text == nullptr) {
    return -1;
  }
  const std::string_view digits(text);
  int fd = -1;
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), fd);
  struct stat status = {};
  const bool pipe =
      end.ec == std::errc() && fd > 2 && fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode);
  return pipe ? fd : -1;
}

/// Writes all, waiting at most a second for a slow reader.
bool write_all(int fd, std::string_view bytes) {
  constexpr int kWaitMs = 1000;
  while (!bytes.empty()) {
    pollfd ready = {fd, POLLOUT, 0};
    if (poll(&ready, 1, kWaitMs) <= 0 || (ready.revents & (POLLOUT | POLLERR)) != POLLOUT) {
      return false;
    }
    const ssize_t sent = write(fd, bytes.data(), bytes.size());
    if (sent < 0 && errno != EINTR && errno != EAGAIN) {
      return false;
    }
    bytes.remove_prefix(sent > 0 ? static_cast<size_t>(sent) : 0);
  }
  return true;
}

}  // namespace

std::string encode(const Failure& failure) {
  return concat(kMagic,
                ' ',
                failure.origin_rank,
                ' ',
                failure.exit_code,
                ' ',
                failure.text.size(),
                '\n',
                failure.text);
}

std::optional<Failure> decode(std::string_view bytes) {
  const size_t line = bytes.find('\n');
  if (line == std::string_view::npos) {
    return std::nullopt;
  }
  std::istringstream header{std::string(bytes.substr(0, line))};
  std::string magic;
  Failure failure;
  size_t size = 0;
  header >> magic >> failure.origin_rank >> failure.exit_code >> size;
  if (!header || magic != kMagic || bytes.size() - line - 1 < size) {
    return std::nullopt;
  }
  failure.text = std::string(bytes.substr(line + 1, size));
  return failure;
}

bool report_failure(const Failure& failure) {
  const int fd = report_descriptor();
  if (fd < 0) {
    return false;
  }
  // A launcher that is gone must not end this rank by SIGPIPE: poll tells of it first, and what is
  // lost in between is only the message of a rank whose launcher died.
  const int flags = fcntl(fd, F_GETFL);
  fcntl(fd, F_SETFL, flags | O_NONBLOCK);
  constexpr size_t kLongestText = 48 * 1024;
  Failure cut = failure;
  cut.text.resize(std::min(cut.text.size(), kLongestText));
  return write_all(fd, encode(cut));
}

}  // namespace brigade::launch
