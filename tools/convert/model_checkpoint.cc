// SPDX-License-Identifier: Apache-2.0
#include "tools/convert/model_checkpoint.h"

#include <filesystem>
#include <utility>
#include <vector>

#include "parallel/base/text.h"
#include "trainer/checkpoint/check_tensors.h"
#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint/output_file.h"
#include "trainer/checkpoint/shard_writer.h"
#include "trainer/checkpoint/staged_folder.h"
#include "trainer/checkpoint/utc_time.h"
#include "trainer/checkpoint/weights.h"
#include "trainer/config/flat.h"

namespace brigade::convert {
namespace {

namespace fs = std::filesystem;
using checkpoint::ElementType;
using checkpoint::Manifest;

/// The manifest without its files and tensors. Of the recipe there is the model alone.
Manifest head_of(const checkpoint::TensorSource& source,
                 const checkpoint::HuggingFaceConfig& config) {
  config::RunConfig recipe;
  recipe.model = config.model;
  recipe.training.seq_len = config.max_positions;
  Manifest head;
  head.run = checkpoint::new_run();
  head.saved_at = checkpoint::utc_time();
  head.model_only = true;
  for (const auto& [key, value] : config::flat(recipe)) {
    if (key.starts_with("model.") || key == "training.seq_len") {
      head.recipe.emplace(key, value);
    }
  }
  head.recipe_hash = config::recipe_hash(recipe);
  head.facts = {{"converted_from", source.path()}};
  head.mesh = {{"pp", 1}, {"dp_replicate", 1}, {"dp_shard", 1}, {"tp", 1}};
  return head;
}

/// Collects tensors in memory and writes them as one file after the other.
class FileWriter {
 public:
  FileWriter(std::string folder, uint64_t limit) : folder_(std::move(folder)), limit_(limit) {}

  Result<void> add(checkpoint::TensorSource& source, const std::string& name, ElementType type) {
    const sharding::Shape& shape = source.tensors().find(name)->second.shape;
    const uint64_t bytes = checkpoint::byte_count(type, sharding::element_count(shape));
    if (held_ > 0 && held_ + bytes > limit_) {
      if (Result<void> done = flush(); !done) {
        return done;
      }
    }
    held_ += bytes;
    written_.bytes += bytes;
    ++written_.tensors;
    std::vector<std::byte>& storage = storage_.emplace_back();
    storage.reserve(bytes);
    const Result<void> read = checkpoint::read_in_pieces(
        source, name, type, [&storage](std::span<const std::byte> piece) -> Result<void> {
          storage.insert(storage.end(), piece.begin(), piece.end());
          return {};
        });
    boxes_.push_back({name, type, shape, sharding::whole_box(shape), storage});
    return read;
  }

  Result<void> flush() {
    const auto rank = static_cast<int64_t>(written_.files);
    auto record = checkpoint::write_shard(folder_, checkpoint::shard_name(rank), rank, boxes_);
    if (!record) {
      return fail(std::move(record.error()));
    }
    records_.push_back(*std::move(record));
    ++written_.files;
    boxes_.clear();
    storage_.clear();
    held_ = 0;
    return {};
  }

  const std::vector<Manifest>& records() const { return records_; }
  const CheckpointWritten& written() const { return written_; }

 private:
  std::string folder_;
  uint64_t limit_;
  uint64_t held_ = 0;
  std::vector<std::vector<std::byte>> storage_;
  std::vector<checkpoint::StateBox> boxes_;
  std::vector<Manifest> records_;
  CheckpointWritten written_;
};

Result<void> write_tensors(FileWriter& writer,
                           checkpoint::TensorSource& source,
                           const CheckpointOptions& options) {
  for (const auto& [name, tensor] : source.tensors()) {
    if (checkpoint::is_optimizer_state(name)) {
      continue;
    }
    const ElementType type = options.type.value_or(tensor.type);
    if (!checkpoint::is_weight_type(type)) {
      return fail(ErrorCode::kData,
                  concat(source.path(),
                         ": tensor ",
                         name,
                         ": weights are kept as F32, BF16 or F16; it is ",
                         type,
                         ", and no type to convert it to was given"));
    }
    if (Result<void> done = writer.add(source, name, type); !done) {
      return done;
    }
  }
  return writer.flush();
}

/// A folder is replaced only where nothing but a checkpoint is lost.
Result<void> check_target(const std::string& folder, bool overwrite) {
  std::error_code error;
  if (!fs::exists(folder, error) || fs::is_empty(folder, error)) {
    return {};
  }
  if (!overwrite) {
    return fail(ErrorCode::kUsage,
                folder +
                    " is there already; name another target, or replace what it holds with "
                    "--overwrite");
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    if (name != checkpoint::kManifestName &&
        !(name.starts_with("rank-") && name.ends_with(".safetensors"))) {
      return fail(ErrorCode::kUsage,
                  concat(folder,
                         " holds ",
                         name,
                         ", which is no part of a checkpoint and would be lost; name another "
                         "target"));
    }
  }
  return error ? fail(ErrorCode::kUsage, folder + " is there and is no folder; name another target")
               : Result<void>();
}

}  // namespace

Result<CheckpointWritten> write_model_checkpoint(const std::string& folder,
                                                 checkpoint::TensorSource& source,
                                                 const checkpoint::HuggingFaceConfig& config,
                                                 const CheckpointOptions& options) {
  if (Result<void> free = check_target(folder, options.overwrite); !free) {
    return fail(std::move(free.error()));
  }
  Result<checkpoint::StagedFolder> staged = checkpoint::StagedFolder::begin(folder);
  if (!staged) {
    return fail(staged.error());
  }
  FileWriter writer(staged->path(), options.file_limit);
  Result<void> done = write_tensors(writer, source, options);
  if (!done) {
    return fail(std::move(done.error()));
  }
  const auto manifest = checkpoint::merge(head_of(source, config), writer.records());
  if (!manifest) {
    return fail(manifest.error());
  }
  done = checkpoint::write_durably(fs::path(staged->path()) / checkpoint::kManifestName,
                                   checkpoint::to_json(*manifest));
  done = done ? staged->publish() : done;
  return done ? Result<CheckpointWritten>(writer.written()) : fail(std::move(done.error()));
}

}  // namespace brigade::convert
