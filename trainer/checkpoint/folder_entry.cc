// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/folder_entry.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "parallel/base/text.h"

namespace brigade::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t kMaxTextBytes = 100'000'000;

/// Whether `path` lies below `folder`; both without links.
bool is_below(const fs::path& path, const fs::path& folder) {
  const auto [folder_end, path_at] =
      std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return folder_end == folder.end() && path_at != path.end();
}

Result<void> check_link(const std::string& folder, const fs::path& path) {
  std::error_code error;
  const fs::path home = fs::canonical(folder, error);
  const fs::path end = error ? fs::path() : fs::canonical(path, error);
  if (error) {
    return fail(ErrorCode::kIo, concat(path.string(), " cannot be followed: ", error.message()));
  }
  if (!is_below(end, home)) {
    return fail(ErrorCode::kData,
                concat(path.string(),
                       " is a symbolic link that leaves its folder, to ",
                       end.string(),
                       "; only files in the folder are read: copy it with its links followed (cp "
                       "-rL)"));
  }
  return {};
}

}  // namespace

bool is_plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

std::string shown_name(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) {
    if (static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\') {
      std::array<char, 5> code = {};
      std::snprintf(code.data(),
                    code.size(),
                    "\\x%02x",
                    static_cast<unsigned>(static_cast<unsigned char>(c)));
      out += code.data();
    } else {
      out += c;
    }
  }
  return out + '"';
}

Result<std::string> path_in_folder(const std::string& folder, const std::string& name) {
  if (!is_plain_name(name)) {
    return fail(ErrorCode::kData,
                concat(folder,
                       ": expected the plain name of a file in this folder; found ",
                       shown_name(name)));
  }
  const fs::path path = fs::path(folder) / name;
  std::error_code error;
  const fs::file_status itself = fs::symlink_status(path, error);
  if (itself.type() == fs::file_type::not_found) {
    return fail(ErrorCode::kIo, concat(folder, ": no file ", shown_name(name)));
  }
  if (fs::is_symlink(itself)) {
    if (Result<void> inside = check_link(folder, path); !inside) {
      return fail(std::move(inside.error()));
    }
  }
  if (!fs::is_regular_file(path, error)) {
    return fail(ErrorCode::kIo, path.string() + " is not a file");
  }
  return path.string();
}

Result<std::string> read_text_file(const std::string& folder, const std::string& name) {
  const Result<std::string> path = path_in_folder(folder, name);
  if (!path) {
    return path;
  }
  std::error_code error;
  const uintmax_t size = fs::file_size(*path, error);
  if (error) {
    return fail(ErrorCode::kIo, concat(*path, " cannot be read: ", error.message()));
  }
  if (size > kMaxTextBytes) {
    return fail(ErrorCode::kData,
                concat(*path, ": expected at most ", kMaxTextBytes, " bytes; it has ", size));
  }
  errno = 0;
  std::ifstream stream(*path, std::ios::binary);
  std::string text(size, '\0');
  if (!stream.read(text.data(), static_cast<std::streamsize>(text.size()))) {
    const int number = errno;
    return fail(ErrorCode::kIo, concat(*path, " cannot be read: ", std::strerror(number)));
  }
  return text;
}

}  // namespace brigade::checkpoint
