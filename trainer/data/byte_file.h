// SPDX-License-Identifier: Apache-2.0
/// ByteFile: any file as text of bytes, vocabulary 256.
///
///   auto source = ByteFile::open({.path = "kjv.txt", .seq_len = 128, .seed = 42});
///
/// Sample j is the seq_len + 1 bytes from j * seq_len: neighbours share one byte, so every byte but
/// the first is a target once an epoch. Training shuffles anew in each epoch (permutation.h);
/// validation is the last part of the file, in order. Bytes that fill no sample are left out, and
/// counted.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "trainer/data/token_source.h"

namespace brigade::data {

enum class Part : uint8_t { kTraining, kValidation };

struct ByteFileOptions {
  std::string path;
  int64_t seq_len = 0;
  uint64_t seed = 0;
  Part part = Part::kTraining;
  /// floor(fraction * size) bytes at the end are the validation part; the rest is for training. 1
  /// for a file that is for validation alone.
  double validation_fraction = 0.0;
};

class ByteFile final : public TokenSource {
 public:
  /// Errors: kIo when the file cannot be opened or is a folder; kData when it is empty or its part
  /// fills no sample; kUsage for a seq_len below 1 or a fraction outside [0, 1), or
  /// [0, 1] of the validation part.
  static Result<ByteFile> open(ByteFileOptions options);

  ByteFile(ByteFile&&) noexcept;
  ByteFile& operator=(ByteFile&&) noexcept;
  ~ByteFile() override;

  int64_t vocabulary_size() const override { return 256; }
  int64_t seq_len() const override { return options_.seq_len; }
  int64_t sample_count() const override { return (size_ - 1) / options_.seq_len; }
  Result<void> read(int64_t epoch,
                    int64_t index,
                    std::span<int64_t> tokens,
                    std::span<int64_t> targets) const override;
  int64_t trained_tokens(int64_t begin, int64_t end) const override;
  std::string description() const override;

  /// Bytes of the part.
  int64_t size() const { return size_; }
  /// Bytes at the end of the part that fill no sample.
  int64_t dropped_bytes() const { return size_ - 1 - sample_count() * options_.seq_len; }

 private:
  class Descriptor;

  ByteFile(ByteFileOptions options, std::unique_ptr<Descriptor> file, int64_t begin, int64_t size);

  ByteFileOptions options_;
  std::unique_ptr<Descriptor> file_;
  int64_t begin_;  // of the part, in the file
  int64_t size_;
};

}  // namespace brigade::data
