// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/checkpoint_json.h"

#include <nlohmann/json.hpp>

#include "tools/inspect/checkpoint_report.h"

namespace brigade::inspect {
namespace {

using checkpoint::Manifest;
using Json = nlohmann::ordered_json;

constexpr int kIndent = 2;

Json counters_json(const checkpoint::Counters& counters) {
  return {{"step", counters.step},
          {"samples", counters.samples},
          {"tokens", counters.tokens},
          {"updates", counters.updates},
          {"skips_in_a_row", counters.skips_in_a_row}};
}

Json mesh_json(const Manifest& manifest) {
  Json mesh = Json::array();
  for (const checkpoint::MeshAxis& axis : manifest.mesh) {
    mesh.push_back(Json::array({axis.name, axis.size}));
  }
  return mesh;
}

Json files_json(const Manifest& manifest) {
  Json files = Json::array();
  for (const checkpoint::ManifestFile& file : manifest.files) {
    files.push_back(Json{{"name", file.name}, {"rank", file.rank}, {"bytes", file.bytes}});
  }
  return files;
}

Json box_json(const Manifest& manifest,
              const checkpoint::ManifestTensor& tensor,
              const checkpoint::ManifestBox& box) {
  Json begin = Json::array();
  Json end = Json::array();
  for (const sharding::Interval& dim : box.box.dims) {
    begin.push_back(dim.begin);
    end.push_back(dim.end);
  }
  const checkpoint::ManifestFile& file = manifest.files[box.file];
  return {{"begin", begin},
          {"end", end},
          {"rank", file.rank},
          {"file", file.name},
          {"bytes", box_bytes(tensor, box)}};
}

Json tensors_json(const Manifest& manifest) {
  Json tensors = Json::object();
  for (const auto& [name, tensor] : manifest.tensors) {
    Json boxes = Json::array();
    for (const checkpoint::ManifestBox& box : tensor.boxes) {
      boxes.push_back(box_json(manifest, tensor, box));
    }
    tensors[name] = {
        {"dtype", checkpoint::to_string(tensor.type)}, {"shape", tensor.shape}, {"boxes", boxes}};
  }
  return tensors;
}

}  // namespace

std::string json_report(const std::string& path,
                        const Manifest& manifest,
                        const std::optional<std::vector<std::string>>& damage) {
  Json all = {{"path", path},
              {"run", manifest.run},
              {"step", manifest.counters.step},
              {"saved_at", manifest.saved_at},
              {"model_only", manifest.model_only},
              {"counters", counters_json(manifest.counters)},
              {"recipe_hash", manifest.recipe_hash},
              {"recipe", manifest.recipe},
              {"mesh", mesh_json(manifest)},
              {"facts", manifest.facts},
              {"bytes", total_bytes(manifest)},
              {"files", files_json(manifest)},
              {"tensors", tensors_json(manifest)}};
  if (damage) {
    all["damage"] = *damage;
  }
  // A path need not be UTF-8; JSON has to be.
  return all.dump(kIndent, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace brigade::inspect
