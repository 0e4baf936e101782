// SPDX-License-Identifier: Apache-2.0
/// TensorSource: named tensors on a disk of which boxes can be read: a checkpoint of ours, or a
/// folder of Hugging Face's.
///
///   std::vector<float> rows(box.element_count());
///   Result<void> done = read_float32(source, "lm_head.weight", box, rows);
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "parallel/base/result.h"
#include "parallel/sharding/interval.h"
#include "trainer/checkpoint/element_type.h"

namespace brigade::checkpoint {

struct SourceTensor {
  ElementType type = ElementType::kF32;
  sharding::Shape shape;

  bool operator==(const SourceTensor&) const = default;
};

using SourceTensors = std::map<std::string, SourceTensor, std::less<>>;

/// Thread safety: belongs to one thread.
class TensorSource {
 public:
  virtual ~TensorSource() = default;

  /// Where it lies; stands in front of every message.
  virtual const std::string& path() const = 0;
  virtual const SourceTensors& tensors() const = 0;

  /// The elements of `box` of tensor `name` as they are stored, row-major. Needs a name of
  /// tensors(), a box within its shape, `out` of exactly the box's bytes.
  /// Errors: kIo; kData naming file, tensor and box that are damaged.
  virtual Result<void> read(std::string_view name,
                            const sharding::Box& box,
                            std::span<std::byte> out) = 0;

  /// From the disk so far, headers and what was read beside the boxes asked for included.
  virtual uint64_t bytes_read() const = 0;
};

/// The same as fp32, from F32, BF16, F16 and F64 (rounded). Extra memory: the box as it is stored,
/// none for F32.
/// Errors: the source's; kData for another type, or when there is no such tensor, naming the
/// nearest.
Result<void> read_float32(TensorSource& source,
                          std::string_view name,
                          const sharding::Box& box,
                          std::span<float> out);

}  // namespace brigade::checkpoint
