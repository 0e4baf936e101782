// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/manifest_reader.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "parallel/base/text.h"
#include "trainer/checkpoint/folder_entry.h"

namespace brigade::checkpoint {
namespace {

using nlohmann::json;

/// What is wrong, thrown to the one place that makes a Result of it.
struct Wrong {
  std::string text;
};

template <class... Parts>
[[noreturn]] void wrong(const Parts&... parts) {
  throw Wrong{concat(parts...)};
}

/// A value as a message shows it.
std::string shown(const json& value) {
  constexpr size_t kMost = 80;
  if (value.is_structured()) {
    return value.is_array() ? "a list" : "an object";
  }
  const std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  return text.size() > kMost ? text.substr(0, kMost) + "..." : text;
}

/// The keys of an object, each asked for once; what nobody asked for is unknown.
class Object {
 public:
  Object(const json& value, std::string where) : value_(value), where_(std::move(where)) {
    if (!value_.is_object()) {
      wrong(where_, " has to be an object, and is ", value_.type_name());
    }
  }

  const json& at(const char* key) {
    const auto found = value_.find(key);
    if (found == value_.end()) {
      wrong(where_, " lacks the key ", key);
    }
    asked_.insert(key);
    return *found;
  }

  std::string text(const char* key) {
    const json& value = at(key);
    if (!value.is_string()) {
      wrong(where_, ": ", key, " has to be a text, and is ", value.type_name());
    }
    return value.get<std::string>();
  }

  bool flag(const char* key) {
    const json& value = at(key);
    if (!value.is_boolean()) {
      wrong(where_, ": ", key, " has to be true or false, and is ", value.type_name());
    }
    return value.get<bool>();
  }

  int64_t count(const char* key) { return count_of(at(key), concat(where_, ": ", key)); }

  static int64_t count_of(const json& value, const std::string& what) {
    constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    if (!value.is_number_unsigned() || value.get<uint64_t>() > kMost) {
      wrong(what, " has to be an integer from 0 to 2^63 - 1, and is ", shown(value));
    }
    return static_cast<int64_t>(value.get<uint64_t>());
  }

  const json& list(const char* key) {
    const json& value = at(key);
    if (!value.is_array()) {
      wrong(where_, ": ", key, " has to be a list, and is ", value.type_name());
    }
    return value;
  }

  uint32_t checksum(const char* key) { return checksum_of(at(key), concat(where_, ": ", key)); }

  static uint32_t checksum_of(const json& value, const std::string& what) {
    constexpr size_t kDigits = 8;
    constexpr int kBase = 16;
    uint32_t sum = 0;
    if (value.is_string()) {
      const auto& text = value.get_ref<const std::string&>();
      const bool lower =
          text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
      if (lower) {
        std::from_chars(text.data(), text.data() + text.size(), sum, kBase);
        return sum;
      }
    }
    wrong(what, " has to be 8 hexadecimal digits, and is ", shown(value));
  }

  std::map<std::string, std::string> texts(const char* key) {
    std::map<std::string, std::string> values;
    const Object object(at(key), concat(where_, ": ", key));
    for (const auto& [name, value] : object.value_.items()) {
      if (!value.is_string()) {
        wrong(object.where_, ": ", name, " has to be a text, and is ", value.type_name());
      }
      values[name] = value.get<std::string>();
    }
    return values;
  }

  void no_more() const {
    for (const auto& [key, value] : value_.items()) {
      if (!asked_.contains(key)) {
        wrong(where_, " has the key ", key, ", which version ", kFormatVersion, " does not know");
      }
    }
  }

 private:
  const json& value_;
  std::string where_;
  std::set<std::string, std::less<>> asked_;
};

std::vector<int64_t> counts(const json& list, const std::string& what) {
  std::vector<int64_t> values;
  for (const json& value : list) {
    values.push_back(Object::count_of(value, what));
  }
  return values;
}

ManifestFile file_of(const json& value, size_t index) {
  Object object(value, concat("file ", index));
  ManifestFile file;
  file.name = object.text("name");
  file.rank = object.count("rank");
  file.bytes = static_cast<uint64_t>(object.count("bytes"));
  file.header_bytes = static_cast<uint64_t>(object.count("header_bytes"));
  file.header_crc32c = object.checksum("header_crc32c");
  object.no_more();
  if (!is_plain_name(file.name)) {
    wrong("file ",
          index,
          ": its name has to be that of a file in the folder itself, and is ",
          shown_name(file.name));
  }
  if (file.header_bytes > file.bytes) {
    wrong("file ", file.name, ": a header of ", file.header_bytes, " bytes in ", file.bytes);
  }
  return file;
}

/// The bytes of a tensor or a box of one.
/// Throws where the number does not fit, also only on the way to a dim of 0: nobody who multiplies
/// a shape that was read has to look out.
uint64_t bytes_of(const std::string& name, ElementType type, const sharding::Shape& shape) {
  if (bits_of(type) % 8 != 0) {
    wrong("tensor ", name, ": elements of type ", type, " are no whole bytes");
  }
  int64_t bits = static_cast<int64_t>(bits_of(type));
  for (const int64_t size : shape) {
    if (__builtin_mul_overflow(bits, size, &bits)) {
      wrong("tensor ", name, ": [", join(shape), "] has more bytes than can be counted");
    }
  }
  return static_cast<uint64_t>(bits) / 8;
}

ManifestBox box_of(const json& value,
                   const std::string& name,
                   const ManifestTensor& tensor,
                   const Manifest& manifest) {
  Object object(value, concat("a box of tensor ", name));
  const std::string where = concat("tensor ", name);
  const std::vector<int64_t> begin = counts(object.list("begin"), where + ": begin");
  const std::vector<int64_t> end = counts(object.list("end"), where + ": end");
  if (begin.size() != tensor.shape.size() || end.size() != tensor.shape.size()) {
    wrong(where, ": a box needs ", tensor.shape.size(), " ranges, one per dim");
  }
  ManifestBox box;
  for (size_t dim = 0; dim < begin.size(); ++dim) {
    box.box.dims.push_back({begin[dim], end[dim]});
    if (begin[dim] > end[dim] || end[dim] > tensor.shape[dim]) {
      wrong(where,
            ": range ",
            begin[dim],
            ':',
            end[dim],
            " does not lie within dim ",
            dim,
            " of ",
            tensor.shape[dim]);
    }
  }
  const std::string what = concat(where, to_string(box.box));
  box.file = static_cast<size_t>(object.count("file"));
  box.offset = static_cast<uint64_t>(object.count("offset"));
  for (const json& sum : object.list("crc32c")) {
    box.crc32c.push_back(Object::checksum_of(sum, what));
  }
  object.no_more();
  if (box.file >= manifest.files.size()) {
    wrong(what, ": file ", box.file, " of ", manifest.files.size());
  }
  const ManifestFile& file = manifest.files[box.file];
  const uint64_t bytes = bytes_of(name, tensor.type, box.box.shape());
  if (box.offset < file.header_bytes || box.offset > file.bytes ||
      bytes > file.bytes - box.offset) {
    wrong(what, ": ", bytes, " bytes at ", box.offset, " do not lie in ", file.name);
  }
  const uint64_t blocks = bytes / manifest.block_bytes + (bytes % manifest.block_bytes != 0);
  if (box.crc32c.size() != blocks) {
    wrong(what, ": ", box.crc32c.size(), " checksums for ", blocks, " blocks");
  }
  return box;
}

ManifestTensor tensor_of(const json& value, const std::string& name, const Manifest& manifest) {
  Object object(value, concat("tensor ", name));
  ManifestTensor tensor;
  const std::string type = object.text("dtype");
  const std::optional<ElementType> known = parse_element_type(type);
  if (!known) {
    wrong("tensor ", name, ": unknown dtype ", type);
  }
  tensor.type = *known;
  tensor.shape = counts(object.list("shape"), concat("tensor ", name, ": shape"));
  bytes_of(name, tensor.type, tensor.shape);
  for (const json& box : object.list("boxes")) {
    tensor.boxes.push_back(box_of(box, name, tensor, manifest));
  }
  object.no_more();
  return tensor;
}

Counters counters_of(const json& value) {
  Object object(value, "counters");
  Counters counters;
  counters.step = object.count("step");
  counters.samples = object.count("samples");
  counters.tokens = object.count("tokens");
  counters.updates = object.count("updates");
  counters.skips_in_a_row = object.count("skips_in_a_row");
  object.no_more();
  return counters;
}

MeshAxis axis_of(const json& value) {
  if (!value.is_array() || value.size() != 2 || !value[0].is_string()) {
    wrong("mesh: an axis has to be [name, size], and is ", shown(value));
  }
  return {value[0].get<std::string>(), Object::count_of(value[1], "mesh: a size")};
}

/// No byte of a file is two boxes'.
void check_ranges(const Manifest& manifest) {
  struct Range {
    size_t file;
    uint64_t begin;
    uint64_t end;
    const std::string* name;
  };
  std::vector<Range> ranges;
  for (const auto& [name, tensor] : manifest.tensors) {
    for (const ManifestBox& box : tensor.boxes) {
      const uint64_t bytes = bytes_of(name, tensor.type, box.box.shape());
      if (bytes > 0) {
        ranges.push_back({box.file, box.offset, box.offset + bytes, &name});
      }
    }
  }
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) {
    return std::pair(a.file, a.begin) < std::pair(b.file, b.begin);
  });
  for (size_t i = 1; i < ranges.size(); ++i) {
    const Range& before = ranges[i - 1];
    if (before.file == ranges[i].file && before.end > ranges[i].begin) {
      wrong("tensors ",
            *before.name,
            " and ",
            *ranges[i].name,
            " share bytes of ",
            manifest.files[before.file].name);
    }
  }
}

Manifest manifest_of(const json& value) {
  Object object(value, "the manifest");
  if (const std::string format = object.text("format"); format != kFormatName) {
    wrong("format has to be ", kFormatName, ", and is ", format);
  }
  if (const int64_t version = object.count("version"); version != kFormatVersion) {
    wrong("version ", version, " of the format; this program reads version ", kFormatVersion);
  }
  Manifest manifest;
  manifest.run = object.text("run");
  manifest.saved_at = object.text("saved_at");
  manifest.model_only = object.flag("model_only");
  manifest.counters = counters_of(object.at("counters"));
  manifest.recipe = object.texts("recipe");
  manifest.recipe_hash = object.text("recipe_hash");
  manifest.facts = object.texts("facts");
  for (const json& axis : object.list("mesh")) {
    manifest.mesh.push_back(axis_of(axis));
  }
  manifest.block_bytes = static_cast<uint64_t>(object.count("block_bytes"));
  if (manifest.block_bytes == 0) {
    wrong("block_bytes has to be at least 1");
  }
  std::set<std::string> names;
  for (const json& file : object.list("files")) {
    manifest.files.push_back(file_of(file, manifest.files.size()));
    if (!names.insert(manifest.files.back().name).second) {
      wrong("file ", manifest.files.back().name, " is listed twice");
    }
  }
  const json& tensors = object.at("tensors");
  if (!tensors.is_object()) {
    wrong("tensors has to be an object, and is ", tensors.type_name());
  }
  for (const auto& [name, tensor] : tensors.items()) {
    manifest.tensors[name] = tensor_of(tensor, name, manifest);
  }
  object.no_more();
  check_ranges(manifest);
  return manifest;
}

/// A DOM keeps the last of two equal keys in silence.
json parse(std::string_view text) {
  std::vector<std::set<std::string>> keys;
  return json::parse(text, [&keys](int, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::object_start) {
      keys.emplace_back();
    } else if (event == json::parse_event_t::object_end) {
      keys.pop_back();
    } else if (event == json::parse_event_t::key &&
               !keys.back().insert(value.get_ref<const std::string&>()).second) {
      wrong("duplicate key ", value.get_ref<const std::string&>());
    }
    return true;
  });
}

}  // namespace

Result<Manifest> read_manifest(std::string_view text) {
  try {
    return manifest_of(parse(text));
  } catch (const Wrong& problem) {
    return fail(ErrorCode::kData, problem.text);
  } catch (const json::exception& problem) {
    return fail(ErrorCode::kData, concat("no valid JSON: ", problem.what()));
  }
}

}  // namespace brigade::checkpoint
