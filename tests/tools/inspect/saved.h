// SPDX-License-Identifier: Apache-2.0
/// Small checkpoints for tests: two ranks, "w" of [4, 2] in two boxes of rows, "scale" of rank 0.
#pragma once

#include <cstring>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/trainer/checkpoint/temporary_folder.h"
#include "trainer/checkpoint/commit.h"
#include "trainer/checkpoint/folder.h"
#include "trainer/checkpoint/shard_writer.h"
#include "trainer/checkpoint/tensor_source.h"

namespace brigade::inspect {

inline checkpoint::Manifest head(int64_t step) {
  checkpoint::Manifest head;
  head.run = "00000000000000aa";
  head.saved_at = "2026-11-30T05:40:00Z";
  head.counters = {step, 12345, 6789000, step - 1, 0};
  head.recipe = {{"optimizer.lr", "0.001"}, {"training.steps", "100"}};
  head.recipe_hash = "0123456789abcdef";
  head.facts = {{"data", "two books"}, {"matmul", "own"}};
  head.mesh = {{"pp", 1}, {"dp_shard", 2}};
  return head;
}

/// Writes a checkpoint into `folder` and returns the path of its step folder.
inline std::string save(const std::string& folder,
                        const checkpoint::Manifest& head,
                        const std::vector<float>& w = {1, 2, 3, 4, 5, 6, 7, 8},
                        float scale = 0.5F) {
  using checkpoint::ElementType;
  const int64_t step = head.counters.step;
  value_or_throw(checkpoint::make_folder(folder));
  value_or_throw(checkpoint::make_staging(folder, step));
  const auto bytes = std::as_bytes(std::span(w));
  const size_t half = bytes.size() / 2;
  const std::vector<checkpoint::StateBox> first = {
      {"w", ElementType::kF32, {4, 2}, {{{0, 2}, {0, 2}}}, bytes.first(half)},
      {"scale", ElementType::kF32, {}, {}, std::as_bytes(std::span(&scale, 1))}};
  const std::vector<checkpoint::StateBox> second = {
      {"w", ElementType::kF32, {4, 2}, {{{2, 4}, {0, 2}}}, bytes.subspan(half)}};
  std::vector<std::string> records;
  for (const auto& [rank, boxes] : {std::pair(0, &first), std::pair(1, &second)}) {
    records.push_back(checkpoint::to_json(value_or_throw(checkpoint::write_shard(
        checkpoint::staging_path(folder, step), checkpoint::shard_name(rank), rank, *boxes))));
  }
  value_or_throw(checkpoint::commit(folder, head, records, 0));
  return checkpoint::step_path(folder, step);
}

/// Turns one byte of a file, counted from its end, into another.
inline void damage(const std::string& path, int from_end) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(-from_end, std::ios::end);
  const int byte = file.get();
  file.seekp(-from_end, std::ios::end);
  file.put(static_cast<char>(byte ^ 1));
}

/// Tensors in memory.
class FakeSource final : public checkpoint::TensorSource {
 public:
  template <class T>
  void add(const std::string& name,
           checkpoint::ElementType type,
           const sharding::Shape& shape,
           const std::vector<T>& elements) {
    tensors_[name] = {type, shape};
    const auto bytes = std::as_bytes(std::span(elements));
    bytes_[name].assign(bytes.begin(), bytes.end());
  }

  const std::string& path() const override { return path_; }
  const checkpoint::SourceTensors& tensors() const override { return tensors_; }
  /// Boxes of whole rows alone.
  Result<void> read(std::string_view name,
                    const sharding::Box& box,
                    std::span<std::byte> out) override {
    ++reads;
    const checkpoint::SourceTensor& tensor = tensors_.find(name)->second;
    const std::vector<std::byte>& all = bytes_[std::string(name)];
    const size_t row = tensor.shape.empty() ? 0 : all.size() / static_cast<size_t>(tensor.shape[0]);
    const size_t begin = box.dims.empty() ? 0 : static_cast<size_t>(box.dims[0].begin);
    std::memcpy(out.data(), all.data() + begin * row, out.size());
    return {};
  }
  uint64_t bytes_read() const override { return 0; }

  int reads = 0;

 private:
  const std::string path_ = "memory";
  checkpoint::SourceTensors tensors_;
  std::map<std::string, std::vector<std::byte>> bytes_;
};

}  // namespace brigade::inspect
