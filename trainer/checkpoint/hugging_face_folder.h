// SPDX-License-Identifier: Apache-2.0
/// HuggingFaceFolder: the weights of a folder that Hugging Face's transformers wrote, under our
/// names and shapes.
///
///   auto folder = HuggingFaceFolder::open("Llama-3.2-1B");
///   (*folder)->read("model.embed_tokens.weight", my_rows, bytes);
///
/// Reads config.json and model.safetensors, or model.safetensors.index.json and the shards that it
/// names. Nothing is read beyond the headers until it is asked for, and what was read is given back
/// at once: memory is that of the box. A head that is in the file though it is tied must equal the
/// embedding, and is left out then.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "trainer/checkpoint/hugging_face_config.h"
#include "trainer/checkpoint/safetensors.h"
#include "trainer/checkpoint/tensor_source.h"

namespace brigade::checkpoint {

/// Whether a folder looks like one: it has a config.json.
bool is_hugging_face_folder(const std::string& folder);

class HuggingFaceFolder final : public TensorSource {
 public:
  /// Errors: kIo for what is not there or cannot be read; kData for a config that is not followed
  /// (hugging_face_config.h), a file name that could lead out of the folder, a link that does,
  /// tensors that index and shards do not agree on, weights that are pickled or in Meta's layout, a
  /// tied head with values of its own.
  static Result<std::unique_ptr<HuggingFaceFolder>> open(const std::string& folder);

  const HuggingFaceConfig& config() const { return config_; }

  const std::string& path() const override { return folder_; }
  const SourceTensors& tensors() const override { return tensors_; }
  Result<void> read(std::string_view name,
                    const sharding::Box& box,
                    std::span<std::byte> out) override;
  uint64_t bytes_read() const override { return bytes_read_; }

 private:
  /// Where a tensor of ours lies.
  struct Place {
    size_t file = 0;
    std::string name;             ///< in the file
    std::vector<uint64_t> shape;  ///< ours
  };

  explicit HuggingFaceFolder(std::string folder) : folder_(std::move(folder)) {}

  Result<void> open_config();
  Result<void> open_files();
  Result<void> open_shards();
  Result<size_t> open_file(const std::string& name);
  Result<void> check_shards(const std::map<std::string, size_t>& file_of) const;
  Result<void> take(size_t file);
  Result<void> take(size_t file, const std::string& name, const TensorInfo& info);
  Result<void> leave_out_tied_head();
  TensorView view_of(const Place& place) const;

  std::string folder_;
  HuggingFaceConfig config_;
  std::vector<SafetensorsFile> files_;
  std::map<std::string, Place, std::less<>> places_;
  SourceTensors tensors_;
  uint64_t bytes_read_ = 0;
};

}  // namespace brigade::checkpoint
