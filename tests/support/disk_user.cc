// SPDX-License-Identifier: Apache-2.0
// The program that failing_disk_test.cc starts: does what its arguments say, in order, and prints
// what each call returned, with errno's name where it failed.
//
//   disk_user FOLDER write:a:5 sync:a rename:a:b mkdir:c read:b:5 remove:b space:c
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>
#include <vector>

namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; std::getline(in, word, ':');) {
    words.push_back(word);
  }
  words.resize(3);
  return words;
}

/// Opens, does, closes.
template <class Act>
int64_t with(const std::string& path, int flags, const Act& act) {
  const int file = open(path.c_str(), flags, 0644);
  if (file < 0) {
    return -1;
  }
  const int64_t result = act(file);
  const int saved = errno;
  close(file);
  errno = saved;
  return result;
}

int64_t do_writes(const std::string& call, const std::string& path, size_t bytes) {
  const std::string text(bytes, 'x');
  return with(path, O_WRONLY | O_CREAT | O_APPEND, [&](int file) -> int64_t {
    if (call == "write") {
      return write(file, text.data(), bytes);
    }
    if (call == "pwrite") {
      return pwrite(file, text.data(), bytes, 0);
    }
    std::array<iovec, 2> pieces = {iovec{const_cast<char*>(text.data()), bytes},
                                   iovec{const_cast<char*>(text.data()), bytes}};
    return writev(file, pieces.data(), 2);
  });
}

int64_t do_call(const std::string& folder, const std::vector<std::string>& words) {
  const std::string& call = words[0];
  const std::string path = folder + '/' + words[1];
  const std::string other = folder + '/' + words[2];
  if (call == "write" || call == "pwrite" || call == "writev") {
    return do_writes(call, path, std::stoul(words[2]));
  }
  if (call == "read") {
    std::string text(std::stoul(words[2]), ' ');
    return with(path, O_RDONLY, [&](int file) { return pread(file, text.data(), text.size(), 0); });
  }
  if (call == "sync") {
    return with(path, O_RDONLY, [](int file) { return fsync(file); });
  }
  if (call == "rename") {
    return rename(path.c_str(), other.c_str());
  }
  if (call == "mkdir") {
    return mkdir(path.c_str(), 0755);
  }
  if (call == "remove") {
    return unlink(path.c_str());
  }
  if (call == "remove_all") {
    std::error_code error;
    const auto removed = static_cast<int64_t>(std::filesystem::remove_all(path, error));
    errno = error.value();
    return error ? -1 : removed;
  }
  return static_cast<int64_t>(std::filesystem::space(path).available);
}

}  // namespace

int main(int count, char** arguments) {
  try {
    for (int i = 2; i < count; ++i) {
      const int64_t result = do_call(arguments[1], words_of(arguments[i]));
      std::cout << result << (result < 0 ? strerrorname_np(errno) : "") << std::endl;
    }
  } catch (const std::exception& exception) {
    std::cout << "caught: " << exception.what() << std::endl;
  }
  return 0;
}
