// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/manifest.h"

#include <array>
#include <cstdio>
#include <random>
#include <utility>

#include "parallel/base/text.h"

namespace brigade::checkpoint {

std::string new_run() {
  std::random_device device;
  std::array<char, 17> digits = {};
  std::snprintf(digits.data(), digits.size(), "%08x%08x", device(), device());
  return digits.data();
}

std::string to_string(const sharding::Box& box) {
  std::vector<std::string> ranges;
  for (const sharding::Interval& range : box.dims) {
    ranges.push_back(concat(range.begin, ':', range.end));
  }
  return concat('[', join(ranges, ","), ']');
}

std::string entry_name(std::string_view tensor,
                       const sharding::Shape& shape,
                       const sharding::Box& box) {
  return box.shape() == shape ? std::string(tensor) : concat(tensor, to_string(box));
}

Result<Manifest> merge(Manifest head, std::span<const Manifest> parts) {
  for (const Manifest& part : parts) {
    if (part.block_bytes != head.block_bytes) {
      return fail(
          ErrorCode::kData,
          concat(
              "ranks do not agree on block_bytes: ", head.block_bytes, " and ", part.block_bytes));
    }
    const size_t first_file = head.files.size();
    head.files.insert(head.files.end(), part.files.begin(), part.files.end());
    for (const auto& [name, tensor] : part.tensors) {
      ManifestTensor& joined =
          head.tensors.try_emplace(name, ManifestTensor{tensor.type, tensor.shape, {}})
              .first->second;
      if (joined.type != tensor.type || joined.shape != tensor.shape) {
        return fail(ErrorCode::kData,
                    concat("ranks do not agree on tensor ",
                           name,
                           ": ",
                           joined.type,
                           '[',
                           join(joined.shape),
                           "] and ",
                           tensor.type,
                           '[',
                           join(tensor.shape),
                           ']'));
      }
      for (ManifestBox box : tensor.boxes) {
        box.file += first_file;
        joined.boxes.push_back(std::move(box));
      }
    }
  }
  if (Result<void> covered = check_coverage(head); !covered) {
    return fail(covered.error());
  }
  return head;
}

}  // namespace brigade::checkpoint
