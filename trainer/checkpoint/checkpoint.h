// SPDX-License-Identifier: Apache-2.0
/// Checkpoint: a committed folder, to be read on any mesh.
///
///   Result<std::unique_ptr<Checkpoint>> saved = Checkpoint::open("outputs/checkpoint/step-100");
///   (*saved)->read("lm_head.weight", my_box, bytes_of_my_box);
///
/// Files are opened when the first byte of theirs is needed, and read by pread: a rank touches the
/// blocks that hold something of its boxes, and no others. A block that is wholly asked for goes to
/// its place without a copy.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint/tensor_source.h"

namespace brigade::checkpoint {

class Checkpoint final : public TensorSource {
 public:
  /// Reads and checks the manifest, and that every file is there, a plain one, and of its size.
  /// Errors: kIo; kData naming file, tensor and box to blame.
  static Result<std::unique_ptr<Checkpoint>> open(const std::string& folder);
  ~Checkpoint() override;

  const Manifest& manifest() const;

  const std::string& path() const override;
  const SourceTensors& tensors() const override;
  /// Extra memory: at most one block. Compares the checksum of every block it reads, and of the
  /// header of every file it opens.
  Result<void> read(std::string_view name,
                    const sharding::Box& box,
                    std::span<std::byte> out) override;
  uint64_t bytes_read() const override;

  /// Reads everything; every damaged file header and box, in words. Extra memory: one block.
  std::vector<std::string> verify();

 private:
  struct Impl;
  explicit Checkpoint(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace brigade::checkpoint
