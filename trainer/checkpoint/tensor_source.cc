// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/tensor_source.h"

#include <vector>

#include "parallel/base/text.h"
#include "trainer/checkpoint/convert_elements.h"
#include "trainer/checkpoint/name_list.h"

namespace brigade::checkpoint {

Result<void> read_float32(TensorSource& source,
                          std::string_view name,
                          const sharding::Box& box,
                          std::span<float> out) {
  const auto found = source.tensors().find(name);
  if (found == source.tensors().end()) {
    return fail(ErrorCode::kData, no_such_tensor(source.path(), name, source.tensors()));
  }
  const ElementType type = found->second.type;
  if (type == ElementType::kF32) {
    return source.read(name, box, std::as_writable_bytes(out));
  }
  if (!is_convertible(type)) {
    return fail(
        ErrorCode::kData,
        concat(source.path(), ": tensor ", name, ": expected F32, BF16, F16 or F64, found ", type));
  }
  std::vector<std::byte> stored(out.size() * bits_of(type) / 8);
  if (Result<void> read = source.read(name, box, stored); !read) {
    return read;
  }
  widen(stored, type, out);
  return {};
}

}  // namespace brigade::checkpoint
