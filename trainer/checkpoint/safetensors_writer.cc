// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/safetensors_writer.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "trainer/checkpoint/safetensors_header.h"

namespace brigade::checkpoint {
namespace {

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump();
}

uint64_t bytes_of(const TensorPlan& tensor) {
  uint64_t bits = bits_of(tensor.type);
  for (const uint64_t size : tensor.shape) {
    bits *= size;
  }
  BRIGADE_CHECK(bits % 8 == 0, tensor.name, tensor.type, bits);
  return bits / 8;
}

std::vector<const TensorPlan*> in_file_order(std::span<const TensorPlan> tensors) {
  std::vector<const TensorPlan*> order;
  std::set<std::string_view> names = {kMetadataKey};
  for (const TensorPlan& tensor : tensors) {
    BRIGADE_CHECK(names.insert(tensor.name).second, tensor.name);
    order.push_back(&tensor);
  }
  std::sort(order.begin(), order.end(), [](const TensorPlan* a, const TensorPlan* b) {
    return a->type != b->type ? a->type > b->type : a->name < b->name;
  });
  return order;
}

/// The length and the padded header. Throws where a name is not UTF-8.
std::string header_of(const std::vector<const TensorPlan*>& order,
                      const std::map<std::string, std::string>& metadata) {
  std::vector<std::string> entries;
  if (!metadata.empty()) {
    std::vector<std::string> pairs;
    for (const auto& [key, value] : metadata) {
      pairs.push_back(quoted(key) + ":" + quoted(value));
    }
    entries.push_back(concat(quoted(kMetadataKey), ":{", join(pairs, ","), "}"));
  }
  uint64_t begin = 0;
  for (const TensorPlan* tensor : order) {
    const uint64_t end = begin + bytes_of(*tensor);
    entries.push_back(concat(quoted(tensor->name),
                             R"(:{"dtype":")",
                             tensor->type,
                             R"(","shape":[)",
                             join(tensor->shape, ","),
                             R"(],"data_offsets":[)",
                             begin,
                             ",",
                             end,
                             "]}"));
    begin = end;
  }
  std::string json = "{" + join(entries, ",") + "}";
  json.resize((json.size() + 7) / 8 * 8, ' ');
  std::string length;
  for (size_t byte = 0; byte < kLengthBytes; ++byte) {
    length += static_cast<char>(json.size() >> (8 * byte) & 0xff);
  }
  return length + json;
}

/// A file under a name of its own, gone unless published.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& target)
      : target_(target), path_(concat(target, ".tmp.", ::getpid())) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
    if (exists_) {
      ::unlink(path_.c_str());
    }
  }

  Result<void> create() {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    exists_ = descriptor_ >= 0;
    return exists_ ? Result<void>() : error("cannot be created");
  }

  Result<void> write(const void* data, size_t size) {
    const char* next = static_cast<const char*>(data);
    while (size > 0) {
      const ssize_t done = ::write(descriptor_, next, size);
      if (done < 0 && errno == EINTR) {
        continue;
      }
      if (done < 0) {
        return error("cannot be written");
      }
      next += done;
      size -= static_cast<size_t>(done);
    }
    return {};
  }

  Result<void> publish() {
    if (::fsync(descriptor_) != 0) {
      return error("cannot be flushed to the disk");
    }
    // close() reports what some network file systems found out late.
    if (::close(std::exchange(descriptor_, -1)) != 0) {
      return error("cannot be closed");
    }
    if (std::rename(path_.c_str(), target_.c_str()) != 0) {
      return error("cannot be renamed");
    }
    exists_ = false;
    return flush_folder();
  }

 private:
  tl::unexpected<Error> error(const char* what) const {
    const int number = errno;
    return fail(ErrorCode::kIo, concat(target_, " ", what, ": ", std::strerror(number)));
  }

  /// Without it a crash may forget the rename.
  Result<void> flush_folder() const {
    const std::string folder = std::filesystem::path(target_).parent_path().string();
    const int descriptor =
        ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) {
      return error("is in a folder that cannot be opened");
    }
    const bool flushed = ::fsync(descriptor) == 0;
    const auto result = flushed ? Result<void>() : error("is in a folder that cannot be flushed");
    ::close(descriptor);
    return result;
  }

  std::string target_;
  std::string path_;
  int descriptor_ = -1;
  bool exists_ = false;
};

/// Writes one tensor as it is produced.
Result<void> write_tensor(TemporaryFile& file,
                          const TensorPlan& tensor,
                          const ProduceTensor& produce) {
  uint64_t written = 0;
  const Result<void> done =
      produce(tensor, [&file, &written](std::span<const std::byte> bytes) -> Result<void> {
        written += bytes.size();
        return file.write(bytes.data(), bytes.size());
      });
  BRIGADE_CHECK(!done || written == bytes_of(tensor), tensor.name, written, bytes_of(tensor));
  return done;
}

}  // namespace

Result<void> write_safetensors(const std::string& path,
                               std::span<const TensorToWrite> tensors,
                               const std::map<std::string, std::string>& metadata) {
  std::vector<TensorPlan> plans;
  std::map<std::string_view, std::span<const std::byte>> bytes;
  for (const TensorToWrite& tensor : tensors) {
    plans.push_back({tensor.name, tensor.type, tensor.shape});
    bytes.emplace(tensor.name, tensor.bytes);
  }
  return stream_safetensors(
      path,
      plans,
      [&bytes](const TensorPlan& plan, const AppendBytes& append) {
        return append(bytes.at(plan.name));
      },
      metadata);
}

Result<void> stream_safetensors(const std::string& path,
                                std::span<const TensorPlan> tensors,
                                const ProduceTensor& produce,
                                const std::map<std::string, std::string>& metadata) {
  const std::vector<const TensorPlan*> order = in_file_order(tensors);
  std::string header;
  try {
    header = header_of(order, metadata);
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::kData, concat(path, ": a name is not UTF-8: ", error.what()));
  }
  if (header.size() - kLengthBytes > kMaxHeaderBytes) {
    return fail(ErrorCode::kData,
                concat(path,
                       ": expected a header of at most ",
                       kMaxHeaderBytes,
                       " bytes; it would have ",
                       header.size() - kLengthBytes));
  }
  TemporaryFile file(path);
  Result<void> result = file.create();
  if (result) {
    result = file.write(header.data(), header.size());
  }
  for (const TensorPlan* tensor : order) {
    if (result) {
      result = write_tensor(file, *tensor, produce);
    }
  }
  return result ? file.publish() : result;
}

}  // namespace brigade::checkpoint
