// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/weights.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

#include "parallel/base/text.h"
#include "trainer/checkpoint/check_tensors.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/convert_elements.h"
#include "trainer/checkpoint/hugging_face_folder.h"
#include "trainer/config/load.h"

namespace brigade::checkpoint {
namespace {

constexpr int64_t kPieceBytes = 8 << 20;

/// The model that a checkpoint's recipe describes, and the length it was trained for.
Result<HuggingFaceConfig> recorded_config(const Checkpoint& saved) {
  std::vector<std::string> settings = {"training.dataset=synthetic"};  // of no matter here
  for (const auto& [key, value] : saved.manifest().recipe) {
    if (key.starts_with("model.") || key == "training.seq_len") {
      settings.push_back(concat(key, '=', value));
    }
  }
  const Result<config::RunConfig> recipe = config::load_text("", saved.path(), settings);
  if (!recipe) {
    return fail(ErrorCode::kData,
                concat(saved.path(), ": its recipe cannot be read: ", recipe.error().text));
  }
  HuggingFaceConfig config;
  config.model = recipe->model;
  config.max_positions =
      config.model.name == "gpt2" ? config.model.n_positions : recipe->training.seq_len;
  return config;
}

bool has(const std::string& folder, const char* name) {
  std::error_code error;
  return std::filesystem::exists(std::filesystem::path(folder) / name, error);
}

tl::unexpected<Error> other_kind(const std::string& path,
                                 const char* found,
                                 const char* wanted,
                                 const char* value) {
  return fail(ErrorCode::kData,
              concat(path,
                     " is ",
                     found,
                     ", not ",
                     wanted,
                     "; it is read with checkpoint.initial_load_in_hf = ",
                     value));
}

}  // namespace

Result<Weights> open_weights(const std::string& path, bool in_hf) {
  if (in_hf) {
    if (!has(path, kHuggingFaceConfigName) && has(path, kManifestName)) {
      return other_kind(path, "a checkpoint of Brigade's", "a Hugging Face folder", "false");
    }
    auto folder = HuggingFaceFolder::open(path);
    if (!folder) {
      return fail(std::move(folder.error()));
    }
    HuggingFaceConfig config = (*folder)->config();
    return Weights{*std::move(folder), std::move(config)};
  }
  if (!has(path, kManifestName) && has(path, kHuggingFaceConfigName)) {
    return other_kind(path, "a Hugging Face folder", "a checkpoint of Brigade's", "true");
  }
  auto saved = Checkpoint::open(path);
  if (!saved) {
    return fail(std::move(saved.error()));
  }
  auto config = recorded_config(**saved);
  if (!config) {
    return fail(std::move(config.error()));
  }
  return Weights{*std::move(saved), *std::move(config)};
}

Result<void> check_model(const Weights& weights, const config::Model& wanted) {
  const std::vector<std::string> lines =
      model_differences(weights.config.model, "the weights", wanted);
  if (lines.empty()) {
    return {};
  }
  return fail(
      ErrorCode::kUsage,
      concat(
          weights.source->path(), " is of another model than the recipe's: ", join(lines, "; ")));
}

Result<void> check_parameters(const TensorSource& source,
                              std::span<const sharding::ParameterFacts> facts) {
  SourceTensors wanted;
  for (const sharding::ParameterFacts& fact : facts) {
    if (fact.tied_to.empty()) {
      wanted[fact.name].shape = fact.shape;
    }
  }
  return check_tensors(source, wanted);
}

bool is_weight_type(ElementType type) {
  return type == ElementType::kF32 || type == ElementType::kBF16 || type == ElementType::kF16;
}

Result<void> read_in_pieces(TensorSource& source,
                            const std::string& name,
                            ElementType type,
                            const std::function<Result<void>(std::span<const std::byte>)>& take) {
  const SourceTensor& tensor = source.tensors().find(name)->second;
  sharding::Box box = sharding::whole_box(tensor.shape);
  const int64_t elements = box.element_count();
  const int64_t rows = tensor.shape.empty() ? 1 : tensor.shape[0];
  if (elements == 0) {
    return {};
  }
  const int64_t row = elements / rows;
  const int64_t step = std::clamp<int64_t>(kPieceBytes / (4 * row), 1, rows);
  std::vector<float> values;
  std::vector<std::byte> bytes;
  for (int64_t begin = 0; begin < rows; begin += step) {
    const int64_t end = std::min(begin + step, rows);
    if (!box.dims.empty()) {
      box.dims[0] = {begin, end};
    }
    const auto count = static_cast<size_t>((end - begin) * row);
    bytes.resize(count * bits_of(type) / 8);
    Result<void> done;
    if (type == tensor.type) {
      done = source.read(name, box, bytes);
    } else {
      values.resize(count);
      done = read_float32(source, name, box, values);
      if (done) {
        narrow(values, type, bytes);
      }
    }
    done = done ? take(bytes) : done;
    if (!done) {
      return done;
    }
  }
  return {};
}

}  // namespace brigade::checkpoint
