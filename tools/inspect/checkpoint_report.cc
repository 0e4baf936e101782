// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/checkpoint_report.h"

#include <numeric>

#include "parallel/base/text.h"
#include "tools/inspect/table.h"

namespace brigade::inspect {
namespace {

using checkpoint::Manifest;
using checkpoint::ManifestBox;
using checkpoint::ManifestFile;
using checkpoint::ManifestTensor;

std::string thousands(uint64_t value) {
  return with_thousands(static_cast<int64_t>(value));
}

std::string shape_text(const sharding::Shape& shape) {
  return concat('[', join(shape), ']');
}

int64_t box_count(const Manifest& manifest) {
  int64_t boxes = 0;
  for (const auto& [name, tensor] : manifest.tensors) {
    boxes += static_cast<int64_t>(tensor.boxes.size());
  }
  return boxes;
}

std::string size_text(const Manifest& manifest) {
  const uint64_t bytes = total_bytes(manifest);
  return concat(thousands(bytes),
                " (",
                bytes_text(static_cast<int64_t>(bytes)),
                ") in ",
                counted(static_cast<int64_t>(manifest.files.size()), "file"),
                ", ",
                counted(static_cast<int64_t>(manifest.tensors.size()), "tensor"),
                ", ",
                box_count(manifest),
                box_count(manifest) == 1 ? " box" : " boxes");
}

std::string head(const std::string& path, const Manifest& manifest) {
  const checkpoint::Counters& counters = manifest.counters;
  Table table({{""}, {""}});
  table.add({"checkpoint", path});
  table.add({"run", manifest.run});
  table.add({"step", with_thousands(counters.step)});
  table.add({"saved", manifest.saved_at});
  table.add({"holds", manifest.model_only ? "the model alone" : "all that a run resumes from"});
  table.add({"samples", with_thousands(counters.samples)});
  table.add({"tokens", with_thousands(counters.tokens)});
  table.add({"updates", with_thousands(counters.updates)});
  table.add({"skips in a row", with_thousands(counters.skips_in_a_row)});
  table.add({"recipe hash", manifest.recipe_hash});
  table.add({"mesh", mesh_text(manifest)});
  for (const auto& [name, value] : manifest.facts) {
    table.add({name, value});
  }
  table.add({"bytes", size_text(manifest)});
  return table.text();
}

std::string files(const Manifest& manifest) {
  Table table({{"file"}, {"rank", Align::kRight}, {"bytes", Align::kRight}});
  for (const ManifestFile& file : manifest.files) {
    table.add({file.name, concat(file.rank), thousands(file.bytes)});
  }
  return table.text();
}

std::string tensors(const Manifest& manifest) {
  Table table({{"tensor"},
               {"type"},
               {"shape"},
               {"box"},
               {"rank", Align::kRight},
               {"bytes", Align::kRight}});
  for (const auto& [name, tensor] : manifest.tensors) {
    bool first = true;
    for (const ManifestBox& box : tensor.boxes) {
      table.add({first ? name : "",
                 first ? concat(tensor.type) : "",
                 first ? shape_text(tensor.shape) : "",
                 checkpoint::to_string(box.box),
                 concat(manifest.files[box.file].rank),
                 thousands(box_bytes(tensor, box))});
      first = false;
    }
  }
  return table.text();
}

}  // namespace

uint64_t total_bytes(const Manifest& manifest) {
  return std::accumulate(manifest.files.begin(),
                         manifest.files.end(),
                         uint64_t{0},
                         [](uint64_t sum, const ManifestFile& file) { return sum + file.bytes; });
}

uint64_t box_bytes(const ManifestTensor& tensor, const ManifestBox& box) {
  return checkpoint::byte_count(tensor.type, box.box.element_count());
}

std::string mesh_text(const Manifest& manifest) {
  std::vector<std::string> axes;
  for (const checkpoint::MeshAxis& axis : manifest.mesh) {
    axes.push_back(concat(axis.name, ' ', axis.size));
  }
  return join(axes, " x ");
}

std::string report(const std::string& path, const Manifest& manifest) {
  return concat(head(path, manifest), '\n', files(manifest), '\n', tensors(manifest));
}

std::string verify_report(const std::vector<std::string>& damage, uint64_t bytes_read) {
  if (damage.empty()) {
    return concat("\nverified: ", thousands(bytes_read), " bytes read, every checksum fits\n");
  }
  std::string out = concat("\nDAMAGED: ", thousands(bytes_read), " bytes read\n");
  for (const std::string& one : damage) {
    out += concat("  ", one, '\n');
  }
  return out;
}

}  // namespace brigade::inspect
