// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/safetensors.h"

#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "trainer/checkpoint/box_runs.h"
#include "trainer/checkpoint/name_list.h"
#include "trainer/checkpoint/output_file.h"

namespace brigade::checkpoint {
namespace {

using Bytes = std::span<const std::byte>;

void unmap(Bytes mapped) {
  if (!mapped.empty()) {
    ::munmap(const_cast<std::byte*>(mapped.data()), mapped.size());
  }
}

/// Maps all of an open file; an empty one is an empty span.
Result<Bytes> map(int descriptor, const std::string& path) {
  struct stat status = {};
  if (::fstat(descriptor, &status) != 0) {
    return system_error(path, "has a size that cannot be read");
  }
  if (!S_ISREG(status.st_mode)) {
    return fail(ErrorCode::kIo, path + " is not a file");
  }
  const auto size = static_cast<size_t>(status.st_size);
  if (size == 0) {
    return Bytes();
  }
  void* const address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (address == MAP_FAILED) {
    return system_error(path, "cannot be mapped");
  }
  return Bytes(static_cast<const std::byte*>(address), size);
}

}  // namespace

bool TensorView::is_aligned() const {
  const uint64_t width = bits_of(type) / 8;
  return width == 0 || reinterpret_cast<uintptr_t>(bytes.data()) % width == 0;  // NOLINT
}

Result<SafetensorsFile> SafetensorsFile::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return system_error(path, "cannot be opened");
  }
  const auto mapped = map(descriptor, path);
  ::close(descriptor);  // the mapping keeps the file
  if (!mapped) {
    return fail(mapped.error());
  }
  auto header = parse_safetensors_header(*mapped, path);
  if (!header) {
    unmap(*mapped);
    return fail(std::move(header.error()));
  }
  return SafetensorsFile(path, *mapped, std::move(*header));
}

SafetensorsFile::SafetensorsFile(std::string path, Bytes mapped, SafetensorsHeader header)
    : path_(std::move(path)), mapped_(mapped), header_(std::move(header)) {}

SafetensorsFile::SafetensorsFile(SafetensorsFile&& other) noexcept
    : path_(std::move(other.path_)),
      mapped_(std::exchange(other.mapped_, {})),
      header_(std::move(other.header_)) {}

SafetensorsFile& SafetensorsFile::operator=(SafetensorsFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(mapped_, other.mapped_);
  std::swap(header_, other.header_);
  return *this;
}

SafetensorsFile::~SafetensorsFile() {
  unmap(mapped_);
}

Result<TensorView> SafetensorsFile::tensor(std::string_view name) const {
  const auto found = header_.tensors.find(name);
  if (found == header_.tensors.end()) {
    return fail(ErrorCode::kData, no_such_tensor(path_, name, header_.tensors));
  }
  const TensorInfo& info = found->second;
  return TensorView{found->first,
                    info.type,
                    info.shape,
                    mapped_.subspan(header_.buffer_begin + info.begin, info.end - info.begin)};
}

Result<void> SafetensorsFile::read_box(const TensorView& view,
                                       const sharding::Box& box,
                                       std::span<std::byte> out) const {
  if (bits_of(view.type) % 8 != 0) {
    return fail(ErrorCode::kData,
                concat(path_,
                       ": tensor ",
                       view.name,
                       ": a part of ",
                       view.type,
                       " cannot be read: its elements are no whole bytes"));
  }
  BRIGADE_CHECK(box.dims.size() == view.shape.size(), view.name, box.dims.size());
  uint64_t bytes = bits_of(view.type) / 8;
  for (size_t dim = 0; dim < box.dims.size(); ++dim) {
    const sharding::Interval& interval = box.dims[dim];
    BRIGADE_CHECK(interval.begin >= 0 && interval.begin <= interval.end &&
                      static_cast<uint64_t>(interval.end) <= view.shape[dim],
                  view.name,
                  dim,
                  interval.begin,
                  interval.end);
    bytes *= static_cast<uint64_t>(interval.size());
  }
  BRIGADE_CHECK(out.size() == bytes, view.name, out.size(), bytes);
  const sharding::Shape shape(view.shape.begin(), view.shape.end());
  return for_each_run(
      sharding::whole_box(shape), box, byte_count(view.type, 1), [&](const Run& run) {
        std::memcpy(out.data() + run.to, view.bytes.data() + run.from, run.bytes);
        return Result<void>();
      });
}

void SafetensorsFile::forget(const TensorView& view) const {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const auto offset = static_cast<size_t>(view.bytes.data() - mapped_.data());
  const size_t begin = offset / page * page;
  // Advice: nothing is lost when it is not taken.
  ::madvise(const_cast<std::byte*>(mapped_.data()) + begin,
            offset + view.bytes.size() - begin,
            MADV_DONTNEED);
}

}  // namespace brigade::checkpoint
