// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "parallel/base/text.h"
#include "trainer/launch/spawn.h"

namespace brigade::launch {

Result<int> free_loopback_port() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  const bool bound =
      fd >= 0 && bind(fd, generic, size) == 0 && getsockname(fd, generic, &size) == 0;
  const int error = errno;
  if (fd >= 0) {
    close(fd);
  }
  if (!bound) {
    return fail(ErrorCode::kIo, concat("no free port on 127.0.0.1: ", std::strerror(error)));
  }
  return ntohs(address.sin_port);
}

}  // namespace brigade::launch
