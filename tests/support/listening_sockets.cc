// SPDX-License-Identifier: Apache-2.0
#include "tests/support/listening_sockets.h"

#include <arpa/inet.h>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <netinet/in.h>
#include <set>
#include <sstream>

namespace brigade::testing {
namespace {

/// "socket:[123]" for every open socket.
std::set<std::string> sockets_of(pid_t pid) {
  std::set<std::string> found;
  std::error_code gone;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd", gone)) {
    found.insert(std::filesystem::read_symlink(entry.path(), gone).string());
  }
  return found;
}

/// "0100007F" -> "127.0.0.1": the kernel prints the address as one number in memory order.
std::string dotted(const std::string& hexadecimal) {
  constexpr size_t kDigitsOfIpv4 = 8;
  constexpr int kBase = 16;
  if (hexadecimal.size() != kDigitsOfIpv4) {
    return hexadecimal;
  }
  in_addr address = {};
  std::from_chars(
      hexadecimal.data(), hexadecimal.data() + hexadecimal.size(), address.s_addr, kBase);
  std::array<char, INET_ADDRSTRLEN> text = {};
  return inet_ntop(AF_INET, &address, text.data(), text.size());
}

}  // namespace

std::vector<std::string> listening(const std::vector<pid_t>& processes) {
  std::set<std::string> held;
  for (const pid_t pid : processes) {
    held.merge(sockets_of(pid));
  }
  std::vector<std::string> found;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream in(table);
    std::string line;
    std::getline(in, line);  // the head
    while (std::getline(in, line)) {
      std::istringstream fields(line);
      std::string slot, local, remote, state, queues, timer, retransmits, user, timeout, inode;
      fields >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> user >>
          timeout >> inode;
      constexpr char kListen[] = "0A";
      if (state == kListen && held.contains("socket:[" + inode + "]")) {
        found.push_back(dotted(local.substr(0, local.find(':'))));
      }
    }
  }
  return found;
}

}  // namespace brigade::testing
