// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/safetensors_header.h"

#include <algorithm>
#include <optional>

#include "parallel/base/text.h"
#include "trainer/checkpoint/safetensors_header_json.h"

namespace brigade::checkpoint {
namespace {

template <class... T>
tl::unexpected<Error> refuse(const std::string& name, const T&... parts) {
  return fail(ErrorCode::kData, concat(name, ": ", parts...));
}

uint64_t little_endian(std::span<const std::byte> bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | std::to_integer<uint64_t>(bytes[i]);
  }
  return value;
}

/// Bits of a tensor, or nothing where 64 bits do not hold the number.
std::optional<uint64_t> bits_of_tensor(const TensorInfo& tensor) {
  uint64_t bits = bits_of(tensor.type);
  for (const uint64_t size : tensor.shape) {
    if (__builtin_mul_overflow(bits, size, &bits)) {
      return std::nullopt;
    }
  }
  return bits;
}

Result<void> check_size(const std::string& file, const std::string& name, const TensorInfo& info) {
  const auto bits = bits_of_tensor(info);
  const std::string type = concat(info.type, "[", join(info.shape, ","), "]");
  if (!bits) {
    return refuse(file, "tensor ", name, ": the size of ", type, " does not fit into 64 bits");
  }
  if (*bits % 8 != 0) {
    return refuse(
        file, "tensor ", name, ": ", type, " does not end at a whole byte: ", *bits, " bits");
  }
  if (*bits / 8 != info.end - info.begin) {
    return refuse(file,
                  "tensor ",
                  name,
                  ": ",
                  type,
                  " needs ",
                  *bits / 8,
                  " bytes; its data_offsets [",
                  info.begin,
                  ",",
                  info.end,
                  "] hold ",
                  info.end - info.begin);
  }
  return {};
}

/// In the order of their offsets the tensors cover the buffer without gap or overlap.
Result<void> check_ranges(const std::string& file,
                          const SafetensorsHeader& header,
                          uint64_t buffer_size) {
  std::vector<decltype(header.tensors)::const_pointer> in_order;
  for (const auto& entry : header.tensors) {
    in_order.push_back(&entry);
  }
  std::stable_sort(in_order.begin(), in_order.end(), [](const auto* a, const auto* b) {
    return std::pair(a->second.begin, a->second.end) < std::pair(b->second.begin, b->second.end);
  });
  uint64_t covered = 0;
  for (const auto* entry : in_order) {
    const auto& [name, info] = *entry;
    if (info.begin != covered || info.end < info.begin) {
      return refuse(file,
                    "tensor ",
                    name,
                    ": expected data_offsets that begin at ",
                    covered,
                    ", where the tensor before ends; found [",
                    info.begin,
                    ",",
                    info.end,
                    "]");
    }
    if (const auto valid = check_size(file, name, info); !valid) {
      return valid;
    }
    covered = info.end;
  }
  if (covered != buffer_size) {
    return refuse(
        file, "the tensors cover ", covered, " bytes; after the header the file has ", buffer_size);
  }
  return {};
}

}  // namespace

Result<SafetensorsHeader> parse_safetensors_header(std::span<const std::byte> file,
                                                   const std::string& name) {
  if (file.size() < kLengthBytes) {
    return refuse(name, "a safetensors file has at least 8 bytes; found ", file.size());
  }
  const uint64_t length = little_endian(file.first(kLengthBytes));
  if (length > kMaxHeaderBytes) {
    return refuse(name,
                  "expected a header of at most ",
                  kMaxHeaderBytes,
                  " bytes; found a length of ",
                  length,
                  " (is it a safetensors file?)");
  }
  if (length > file.size() - kLengthBytes) {
    return refuse(
        name, "the header's ", length, " bytes run past the end of a file of ", file.size());
  }
  const std::span<const std::byte> json = file.subspan(kLengthBytes, length);
  auto header =
      parse_header_json({reinterpret_cast<const char*>(json.data()), json.size()});  // NOLINT
  if (!header) {
    return refuse(name, header.error().text);
  }
  header->buffer_begin = kLengthBytes + length;
  const auto valid = check_ranges(name, *header, file.size() - header->buffer_begin);
  if (!valid) {
    return fail(valid.error());
  }
  return header;
}

}  // namespace brigade::checkpoint
