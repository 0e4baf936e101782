// SPDX-License-Identifier: Apache-2.0
/// Small checkpoints for tests, cut into any grid, and their contents known without reading them.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "parallel/base/crc32c.h"
#include "parallel/base/text.h"
#include "parallel/sharding/interval.h"
#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint/output_file.h"
#include "trainer/checkpoint/shard_writer.h"

namespace brigade::checkpoint {

/// All parts of a shape that is cut into `parts[dim]` intervals along each dim.
inline std::vector<sharding::Box> grid(const sharding::Shape& shape,
                                       const std::vector<int64_t>& parts) {
  std::vector<sharding::Box> boxes = {{}};
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    std::vector<sharding::Box> finer;
    for (const sharding::Box& box : boxes) {
      for (int64_t part = 0; part < parts[dim]; ++part) {
        finer.push_back(box);
        finer.back().dims.push_back(sharding::interval(shape[dim], part, parts[dim]));
      }
    }
    boxes = std::move(finer);
  }
  return boxes;
}

struct SampleTensor {
  std::string name;
  ElementType type = ElementType::kF32;
  sharding::Shape shape;
  std::vector<int64_t> parts;

  /// Element `index` of the flat tensor. Of floating types small numbers.
  std::vector<std::byte> element(int64_t index) const {
    std::vector<std::byte> bytes(bits_of(type) / 8);
    if (type == ElementType::kF32) {
      const auto value = static_cast<float>(index) * 0.5F;
      std::memcpy(bytes.data(), &value, sizeof(value));
      return bytes;
    }
    for (size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<std::byte>((index * 31 + static_cast<int64_t>(i) * 7) & 0x3f);
    }
    return bytes;
  }

  /// The bytes of a box, element by element.
  std::vector<std::byte> bytes_of(const sharding::Box& box) const {
    std::vector<std::byte> out;
    const int64_t count = box.element_count();
    for (int64_t i = 0; i < count; ++i) {
      int64_t rest = i;
      int64_t flat = 0;
      int64_t stride = 1;
      for (size_t dim = shape.size(); dim-- > 0;) {
        flat += (box.dims[dim].begin + rest % box.dims[dim].size()) * stride;
        rest /= box.dims[dim].size();
        stride *= shape[dim];
      }
      const std::vector<std::byte> value = element(flat);
      out.insert(out.end(), value.begin(), value.end());
    }
    return out;
  }
};

inline Manifest sample_head(int64_t step) {
  Manifest head;
  head.run = "00000000000000aa";
  head.saved_at = "2026-11-30T05:40:00Z";
  head.counters = {.step = step, .samples = 12 * step, .tokens = 100 * step, .updates = step};
  head.recipe = {{"model.name", "llama"}, {"training.steps", "10"}};
  head.recipe_hash = "0000000000000001";
  head.facts = {{"global_batch", "12"}};
  head.mesh = {{"pp", 1}, {"dp_replicate", 1}, {"dp_shard", 2}, {"tp", 1}};
  return head;
}

/// Writes box i of tensor t as rank (i + t) of as many as the most boxes; then the manifest.
inline Manifest write_sample(const std::string& folder,
                             const std::vector<SampleTensor>& tensors,
                             const Manifest& head = sample_head(100)) {
  size_t ranks = 1;
  for (const SampleTensor& tensor : tensors) {
    ranks = std::max(ranks, grid(tensor.shape, tensor.parts).size());
  }
  std::vector<Manifest> records;
  for (size_t rank = 0; rank < ranks; ++rank) {
    std::vector<std::vector<std::byte>> bytes;
    std::vector<StateBox> boxes;
    for (size_t t = 0; t < tensors.size(); ++t) {
      const auto parts = grid(tensors[t].shape, tensors[t].parts);
      const size_t part = (rank + ranks - t % ranks) % ranks;
      if (part < parts.size()) {
        bytes.push_back(tensors[t].bytes_of(parts[part]));
        boxes.push_back({tensors[t].name,
                         tensors[t].type,
                         tensors[t].shape,
                         parts[part],
                         std::span(bytes.back())});
      }
    }
    const auto number = static_cast<int64_t>(rank);
    records.push_back(value_or_throw(write_shard(folder, shard_name(number), number, boxes)));
  }
  Manifest manifest = value_or_throw(merge(head, records));
  value_or_throw(write_durably(concat(folder, "/", kManifestName), to_json(manifest)));
  return manifest;
}

/// A manifest's frame around any text.
inline std::string framed(const std::string& inner) {
  std::ostringstream sum;
  sum << std::hex;
  sum.width(8);
  sum.fill('0');
  sum << crc32c(std::as_bytes(std::span(inner)));
  return concat(R"({"crc32c":")", sum.str(), R"(","manifest":)", inner, "}\n");
}

inline std::string unframed(const std::string& text) {
  constexpr size_t kBegin = 32;
  return text.substr(kBegin, text.size() - kBegin - 2);
}

}  // namespace brigade::checkpoint
