// SPDX-License-Identifier: Apache-2.0
// A manifest as text: the frame, and the JSON in it.
#include <array>
#include <charconv>
#include <cstdio>
#include <span>
#include <utility>

#include <nlohmann/json.hpp>

#include "parallel/base/crc32c.h"
#include "parallel/base/text.h"
#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint/manifest_reader.h"

namespace brigade::checkpoint {
namespace {

using nlohmann::json;

constexpr std::string_view kFrameBegin = R"({"crc32c":")";
constexpr std::string_view kFrameMiddle = R"(","manifest":)";
constexpr std::string_view kFrameEnd = "}\n";
constexpr size_t kDigits = 8;

std::string hexadecimal(uint32_t value) {
  std::array<char, kDigits + 1> digits = {};
  std::snprintf(digits.data(), digits.size(), "%08x", value);
  return digits.data();
}

json json_of(const ManifestBox& box) {
  json begin = json::array();
  json end = json::array();
  for (const sharding::Interval& range : box.box.dims) {
    begin.push_back(range.begin);
    end.push_back(range.end);
  }
  json sums = json::array();
  for (const uint32_t sum : box.crc32c) {
    sums.push_back(hexadecimal(sum));
  }
  return {{"begin", std::move(begin)},
          {"end", std::move(end)},
          {"file", box.file},
          {"offset", box.offset},
          {"crc32c", std::move(sums)}};
}

json json_of(const ManifestTensor& tensor) {
  json boxes = json::array();
  for (const ManifestBox& box : tensor.boxes) {
    boxes.push_back(json_of(box));
  }
  return {{"dtype", std::string(to_string(tensor.type))},
          {"shape", tensor.shape},
          {"boxes", std::move(boxes)}};
}

json json_of(const ManifestFile& file) {
  return {{"name", file.name},
          {"rank", file.rank},
          {"bytes", file.bytes},
          {"header_bytes", file.header_bytes},
          {"header_crc32c", hexadecimal(file.header_crc32c)}};
}

json json_of(const Counters& counters) {
  return {{"step", counters.step},
          {"samples", counters.samples},
          {"tokens", counters.tokens},
          {"updates", counters.updates},
          {"skips_in_a_row", counters.skips_in_a_row}};
}

json json_of(const Manifest& manifest) {
  json mesh = json::array();
  for (const MeshAxis& axis : manifest.mesh) {
    mesh.push_back({axis.name, axis.size});
  }
  json files = json::array();
  for (const ManifestFile& file : manifest.files) {
    files.push_back(json_of(file));
  }
  json tensors = json::object();
  for (const auto& [name, tensor] : manifest.tensors) {
    tensors[name] = json_of(tensor);
  }
  return {{"format", kFormatName},
          {"version", kFormatVersion},
          {"run", manifest.run},
          {"saved_at", manifest.saved_at},
          {"model_only", manifest.model_only},
          {"counters", json_of(manifest.counters)},
          {"recipe", manifest.recipe},
          {"recipe_hash", manifest.recipe_hash},
          {"facts", manifest.facts},
          {"mesh", std::move(mesh)},
          {"block_bytes", manifest.block_bytes},
          {"files", std::move(files)},
          {"tensors", std::move(tensors)}};
}

/// What the frame holds, once its checksum is known to be that of the text.
Result<std::string_view> unframed(std::string_view text, const std::string& name) {
  const size_t begin = kFrameBegin.size() + kDigits + kFrameMiddle.size();
  const bool framed = text.size() > begin + kFrameEnd.size() && text.starts_with(kFrameBegin) &&
                      text.substr(kFrameBegin.size() + kDigits).starts_with(kFrameMiddle) &&
                      text[begin] == '{' && text.ends_with(kFrameEnd) &&
                      text[text.size() - kFrameEnd.size() - 1] == '}';
  if (!framed) {
    return fail(ErrorCode::kData,
                concat(name,
                       " is no manifest of a checkpoint: expected it to begin with ",
                       kFrameBegin,
                       " and to end with its last brace; it has ",
                       text.size(),
                       " bytes"));
  }
  const std::string_view inner = text.substr(begin, text.size() - begin - kFrameEnd.size());
  const std::string sum = hexadecimal(crc32c(std::as_bytes(std::span(inner))));
  const std::string_view stated = text.substr(kFrameBegin.size(), kDigits);
  if (stated != sum) {
    return fail(ErrorCode::kData,
                concat(name, " is damaged: its checksum is ", sum, ", it states ", stated));
  }
  return inner;
}

}  // namespace

std::string to_json(const Manifest& manifest) {
  // A path in the recipe may be no UTF-8; nobody looks it up.
  const std::string inner = json_of(manifest).dump(-1, ' ', false, json::error_handler_t::replace);
  return concat(kFrameBegin,
                hexadecimal(crc32c(std::as_bytes(std::span(inner)))),
                kFrameMiddle,
                inner,
                kFrameEnd);
}

Result<Manifest> parse_manifest(std::string_view text, const std::string& name, bool whole) {
  const Result<std::string_view> inner = unframed(text, name);
  if (!inner) {
    return fail(inner.error());
  }
  Result<Manifest> manifest = read_manifest(*inner);
  if (manifest && whole) {
    if (Result<void> covered = check_coverage(*manifest); !covered) {
      manifest = fail(covered.error());
    }
  }
  if (!manifest) {
    return fail(ErrorCode::kData, concat(name, ": ", manifest.error().text));
  }
  return manifest;
}

}  // namespace brigade::checkpoint
