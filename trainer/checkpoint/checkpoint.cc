// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/checkpoint.h"

#include <optional>
#include <utility>

#include "parallel/base/check.h"
#include "parallel/base/crc32c.h"
#include "parallel/base/text.h"
#include "trainer/checkpoint/block_reader.h"
#include "trainer/checkpoint/box_runs.h"
#include "trainer/checkpoint/input_file.h"

namespace brigade::checkpoint {
namespace {

constexpr uint64_t kMostManifestBytes = uint64_t{1} << 32;

std::string name_of(std::string_view tensor, const ManifestBox& box) {
  return concat("tensor ", tensor, ", box ", to_string(box.box));
}

/// What of the manifest lies in a file, for the message about one that is damaged: the first box of
/// it that ends behind byte `sound`.
std::string lost_with(const Manifest& manifest, size_t file, uint64_t sound) {
  std::string first;
  uint64_t first_offset = 0;
  size_t boxes = 0;
  for (const auto& [name, tensor] : manifest.tensors) {
    for (const ManifestBox& box : tensor.boxes) {
      const uint64_t bytes = byte_count(tensor.type, box.box.element_count());
      if (box.file != file || box.offset + bytes <= sound) {
        continue;
      }
      if (++boxes == 1 || box.offset < first_offset) {
        first = name_of(name, box);
        first_offset = box.offset;
      }
    }
  }
  if (boxes == 0) {
    return {};
  }
  return concat("; lost with it: ", first, boxes > 1 ? concat(" and ", boxes - 1, " more") : "");
}

}  // namespace

struct Checkpoint::Impl {
  std::string folder;
  Manifest manifest;
  SourceTensors tensors;
  std::vector<std::optional<InputFile>> files;  // those that were read from
  std::vector<std::byte> scratch;
  uint64_t bytes_read = 0;

  std::string path_of(const ManifestFile& file) const { return concat(folder, "/", file.name); }
  Result<InputFile> open_file(size_t index) const;
  Result<const InputFile*> file_at(size_t index);
  Result<void> check_header(const InputFile& found, size_t index);
  Result<void> read_part(std::string_view name,
                         const ManifestTensor& tensor,
                         const ManifestBox& saved,
                         const sharding::Box& wanted,
                         std::span<std::byte> out);
};

Checkpoint::Checkpoint(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Checkpoint::~Checkpoint() = default;

Result<std::unique_ptr<Checkpoint>> Checkpoint::open(const std::string& folder) {
  auto impl = std::make_unique<Impl>();
  impl->folder = folder;
  const std::string path = concat(folder, "/", kManifestName);
  const Result<std::string> text = read_text(path, kMostManifestBytes);
  if (!text) {
    return fail(text.error().code,
                concat(folder, " is no complete checkpoint: ", text.error().text));
  }
  Result<Manifest> manifest = parse_manifest(*text, path);
  if (!manifest) {
    return fail(manifest.error());
  }
  impl->manifest = std::move(*manifest);
  impl->bytes_read = text->size();
  impl->files.resize(impl->manifest.files.size());
  for (size_t index = 0; index < impl->manifest.files.size(); ++index) {
    if (const Result<InputFile> file = impl->open_file(index); !file) {
      return fail(file.error());
    }
  }
  for (const auto& [name, tensor] : impl->manifest.tensors) {
    impl->tensors[name] = {tensor.type, tensor.shape};
  }
  return std::unique_ptr<Checkpoint>(new Checkpoint(std::move(impl)));
}

Result<InputFile> Checkpoint::Impl::open_file(size_t index) const {
  const ManifestFile& file = manifest.files[index];
  Result<InputFile> found = InputFile::open(path_of(file));
  if (!found) {
    return fail(found.error().code, concat(found.error().text, lost_with(manifest, index, 0)));
  }
  if (found->size() != file.bytes) {
    return fail(ErrorCode::kData,
                concat(found->path(),
                       " has ",
                       found->size(),
                       " bytes; the manifest says ",
                       file.bytes,
                       lost_with(manifest, index, found->size())));
  }
  return found;
}

Result<const InputFile*> Checkpoint::Impl::file_at(size_t index) {
  std::optional<InputFile>& known = files[index];
  if (!known) {
    Result<InputFile> opened = open_file(index);
    if (!opened) {
      return fail(opened.error());
    }
    if (const Result<void> sound = check_header(*opened, index); !sound) {
      return fail(sound.error());
    }
    known.emplace(std::move(*opened));
  }
  return &*known;
}

Result<void> Checkpoint::Impl::check_header(const InputFile& found, size_t index) {
  const ManifestFile& file = manifest.files[index];
  std::vector<std::byte> header(file.header_bytes);
  if (Result<void> read = found.read(0, header); !read) {
    return read;
  }
  bytes_read += header.size();
  if (crc32c(header) != file.header_crc32c) {
    return fail(ErrorCode::kData,
                concat(found.path(),
                       " is damaged, or another file in its place: the checksum of its header is "
                       "not that of the manifest",
                       lost_with(manifest, index, 0)));
  }
  return {};
}

const Manifest& Checkpoint::manifest() const {
  return impl_->manifest;
}
const std::string& Checkpoint::path() const {
  return impl_->folder;
}
const SourceTensors& Checkpoint::tensors() const {
  return impl_->tensors;
}
uint64_t Checkpoint::bytes_read() const {
  return impl_->bytes_read;
}

Result<void> Checkpoint::read(std::string_view name,
                              const sharding::Box& box,
                              std::span<std::byte> out) {
  const auto found = impl_->manifest.tensors.find(name);
  BRIGADE_CHECK(found != impl_->manifest.tensors.end(), name);
  const ManifestTensor& tensor = found->second;
  BRIGADE_CHECK(box.dims.size() == tensor.shape.size(), name, box.dims.size());
  for (size_t dim = 0; dim < box.dims.size(); ++dim) {
    const sharding::Interval& range = box.dims[dim];
    BRIGADE_CHECK(0 <= range.begin && range.begin <= range.end && range.end <= tensor.shape[dim],
                  name,
                  to_string(box));
  }
  const uint64_t bytes = byte_count(tensor.type, box.element_count());
  BRIGADE_CHECK(out.size() == bytes, name, out.size(), bytes);
  for (const ManifestBox& saved : tensor.boxes) {
    if (intersect(saved.box, box).element_count() == 0) {
      continue;
    }
    if (Result<void> read = impl_->read_part(name, tensor, saved, box, out); !read) {
      return read;
    }
  }
  return {};
}

Result<void> Checkpoint::Impl::read_part(std::string_view name,
                                         const ManifestTensor& tensor,
                                         const ManifestBox& saved,
                                         const sharding::Box& wanted,
                                         std::span<std::byte> out) {
  const Result<const InputFile*> file = file_at(saved.file);
  if (!file) {
    return fail(file.error());
  }
  BlockReader reader(**file,
                     saved,
                     byte_count(tensor.type, saved.box.element_count()),
                     manifest.block_bytes,
                     name_of(name, saved),
                     scratch);
  const Result<void> read =
      for_each_run(saved.box, wanted, byte_count(tensor.type, 1), [&](const Run& run) {
        return reader.copy(run.from, out.subspan(run.to, run.bytes));
      });
  bytes_read += reader.bytes_read();
  return read;
}

std::vector<std::string> Checkpoint::verify() {
  std::vector<std::string> damage;
  for (size_t index = 0; index < impl_->files.size(); ++index) {
    if (const auto file = impl_->file_at(index); !file) {
      damage.push_back(file.error().text);
    }
  }
  std::vector<std::byte> piece;
  for (const auto& [name, tensor] : impl_->manifest.tensors) {
    for (const ManifestBox& box : tensor.boxes) {
      const auto file = impl_->file_at(box.file);
      if (!file) {
        continue;  // named above
      }
      const uint64_t bytes = byte_count(tensor.type, box.box.element_count());
      BlockReader reader(
          **file, box, bytes, impl_->manifest.block_bytes, name_of(name, box), impl_->scratch);
      for (uint64_t from = 0; from < bytes; from += impl_->manifest.block_bytes) {
        piece.resize(std::min(impl_->manifest.block_bytes, bytes - from));
        if (Result<void> read = reader.copy(from, piece); !read) {
          damage.push_back(read.error().text);
        }
      }
      impl_->bytes_read += reader.bytes_read();
    }
  }
  return damage;
}

}  // namespace brigade::checkpoint
