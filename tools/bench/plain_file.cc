// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/plain_file.h"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

#include "trainer/checkpoint/input_file.h"
#include "trainer/checkpoint/output_file.h"

namespace brigade::bench {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 20;

template <class Byte, class Move>
Result<void> in_pieces(std::span<Byte> bytes, const Move& move) {
  for (size_t begin = 0; begin < bytes.size(); begin += kPieceBytes) {
    const size_t size = std::min(kPieceBytes, bytes.size() - begin);
    if (Result<void> moved = move(begin, bytes.subspan(begin, size)); !moved) {
      return moved;
    }
  }
  return {};
}

}  // namespace

Result<void> write_plainly(const std::string& path, std::span<const std::byte> bytes) {
  Result<checkpoint::OutputFile> file = checkpoint::OutputFile::create(path);
  if (!file) {
    return fail(file.error());
  }
  const auto write = [&](size_t, std::span<const std::byte> piece) { return file->write(piece); };
  return in_pieces(bytes, write).and_then([&] { return file->finish(); });
}

Result<void> read_plainly(const std::string& path, std::span<std::byte> bytes) {
  const Result<checkpoint::InputFile> file = checkpoint::InputFile::open(path);
  if (!file) {
    return fail(file.error());
  }
  return in_pieces(
      bytes, [&](size_t begin, std::span<std::byte> piece) { return file->read(begin, piece); });
}

Result<void> forget(const std::string& folder) {
  std::error_code code;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, code)) {
    if (!entry.is_regular_file(code)) {
      continue;
    }
    const std::string path = entry.path().string();
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
      return checkpoint::system_error(path, "cannot be opened");
    }
    ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
    ::close(descriptor);
  }
  return code ? fail(ErrorCode::kIo, folder + ": " + code.message()) : Result<void>();
}

}  // namespace brigade::bench
