// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/hugging_face_writer.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "parallel/base/text.h"
#include "trainer/checkpoint/check_tensors.h"
#include "trainer/checkpoint/hugging_face_index.h"
#include "trainer/checkpoint/hugging_face_names.h"
#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint/output_file.h"
#include "trainer/checkpoint/safetensors_writer.h"
#include "trainer/checkpoint/staged_folder.h"
#include "trainer/checkpoint/weights.h"

namespace brigade::checkpoint {
namespace {

namespace fs = std::filesystem;

struct Plan {
  std::vector<std::vector<TensorPlan>> shards;
  uint64_t bytes = 0;
  size_t tensors = 0;
  ElementType type = ElementType::kBF16;  ///< the widest
};

Result<Plan> plan_of(const TensorSource& source, const HuggingFaceOptions& options) {
  Plan plan;
  uint64_t filled = 0;
  for (const auto& [name, tensor] : source.tensors()) {
    if (is_optimizer_state(name)) {
      continue;
    }
    const ElementType type = options.type.value_or(tensor.type);
    if (!is_weight_type(type)) {
      return fail(ErrorCode::kData,
                  concat(source.path(),
                         ": tensor ",
                         name,
                         ": weights are written as F32, BF16 or F16; it is ",
                         type,
                         ", and no type to convert it to was given"));
    }
    const uint64_t bytes = byte_count(type, sharding::element_count(tensor.shape));
    if (plan.shards.empty() || (filled > 0 && filled + bytes > options.shard_limit)) {
      plan.shards.emplace_back();
      filled = 0;
    }
    const sharding::Shape shape = shape_in_hugging_face(name, tensor.shape);
    plan.shards.back().push_back({name, type, {shape.begin(), shape.end()}});
    filled += bytes;
    plan.bytes += bytes;
    ++plan.tensors;
    plan.type = std::max(plan.type, type);
  }
  if (plan.tensors == 0) {
    return fail(ErrorCode::kData, source.path() + ": no tensors to write");
  }
  return plan;
}

Result<void> write_shard_files(const std::string& folder, TensorSource& source, const Plan& plan) {
  const ProduceTensor produce = [&source](const TensorPlan& tensor, const AppendBytes& append) {
    return read_in_pieces(source, tensor.name, tensor.type, append);
  };
  std::map<std::string, std::string> weight_map;
  for (size_t shard = 0; shard < plan.shards.size(); ++shard) {
    const std::string name = hugging_face_shard_name(shard, plan.shards.size());
    Result<void> done = stream_safetensors(
        fs::path(folder) / name, plan.shards[shard], produce, {{"format", "pt"}});
    if (!done) {
      return done;
    }
    for (const TensorPlan& tensor : plan.shards[shard]) {
      weight_map.emplace(tensor.name, name);
    }
  }
  return plan.shards.size() == 1 ? Result<void>()
                                 : write_durably(fs::path(folder) / kIndexName,
                                                 hugging_face_index(weight_map, plan.bytes));
}

/// Whether the folder is there and holds something.
Result<bool> is_occupied(const std::string& folder, bool overwrite) {
  std::error_code error;
  if (!fs::exists(folder, error) || fs::is_empty(folder, error)) {
    return false;
  }
  if (!fs::is_directory(folder, error)) {
    return fail(ErrorCode::kUsage, folder + " is there and is no folder; name another target");
  }
  if (fs::exists(fs::path(folder) / kManifestName, error)) {
    return fail(ErrorCode::kUsage,
                folder +
                    " is a checkpoint of Brigade's, and is not mixed with other files; name "
                    "another target");
  }
  if (!overwrite) {
    return fail(ErrorCode::kUsage,
                folder +
                    " is there already; name another target, or replace what it holds with "
                    "--overwrite");
  }
  return true;
}

}  // namespace

Result<HuggingFaceWritten> write_hugging_face(const std::string& folder,
                                              TensorSource& source,
                                              const HuggingFaceConfig& config,
                                              const HuggingFaceOptions& options) {
  const Result<bool> occupied = is_occupied(folder, options.overwrite);
  if (!occupied) {
    return fail(occupied.error());
  }
  const Result<Plan> plan = plan_of(source, options);
  if (!plan) {
    return fail(plan.error());
  }
  Result<StagedFolder> staged = StagedFolder::begin(folder);
  if (!staged) {
    return fail(staged.error());
  }
  Result<void> done = write_shard_files(staged->path(), source, *plan);
  if (done) {
    done = write_durably(fs::path(staged->path()) / kHuggingFaceConfigName,
                         hugging_face_config(config, plan->type));
  }
  if (done) {
    done = *occupied ? staged->publish_into(kHuggingFaceConfigName, is_hugging_face_weights_name)
                     : staged->publish();
  }
  if (!done) {
    return fail(std::move(done.error()));
  }
  HuggingFaceWritten written{{}, plan->bytes, plan->tensors};
  for (size_t shard = 0; shard < plan->shards.size(); ++shard) {
    written.files.push_back(hugging_face_shard_name(shard, plan->shards.size()));
  }
  return written;
}

}  // namespace brigade::checkpoint
