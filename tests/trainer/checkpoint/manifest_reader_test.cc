// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/manifest_reader.h"

#include <functional>
#include <limits>
#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/trainer/checkpoint/sample_checkpoint.h"
#include "trainer/checkpoint/folder_entry.h"

namespace brigade::checkpoint {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// Two files, a tensor in two boxes of two blocks, a scalar.
json sample() {
  Manifest manifest = sample_head(7);
  manifest.block_bytes = 64;
  manifest.files = {{"a", 0, 300, 100, 1}, {"b", 1, 180, 80, 2}};
  manifest.tensors["w"] = {
      ElementType::kF32,
      {10, 5},
      {{{{{0, 5}, {0, 5}}}, 0, 100, {1, 2}}, {{{{5, 10}, {0, 5}}}, 1, 80, {3, 4}}}};
  manifest.tensors["s"] = {ElementType::kF32, {}, {{{}, 0, 200, {5}}}};
  return json::parse(unframed(to_json(manifest)));
}

std::string refusal(const json& value) {
  const auto manifest = read_manifest(value.dump());
  if (manifest) {
    return "accepted";
  }
  EXPECT_EQ(manifest.error().code, ErrorCode::kData);
  return manifest.error().text;
}

std::string refusal_after(const std::function<void(json&)>& change) {
  json value = sample();
  change(value);
  return refusal(value);
}

TEST(ManifestReader, TakesTheSample) {
  EXPECT_EQ(refusal(sample()), "accepted");
}

TEST(ManifestReader, RefusesOtherFormatsAndVersionsFirst) {
  EXPECT_EQ(refusal_after([](json& m) { m["format"] = "dcp"; }),
            "format has to be brigade-checkpoint, and is dcp");
  EXPECT_EQ(refusal_after([](json& m) {
              m["version"] = 2;
              m["news"] = 1;
            }),
            "version 2 of the format; this program reads version 1");
}

TEST(ManifestReader, NamesEveryKeyThatIsMissing) {
  int removed = 0;
  const json whole = sample();
  const auto without = [&](const json::json_pointer& at, const std::string& key) {
    json value = whole;
    value[at].erase(key);
    EXPECT_THAT(refusal(value), HasSubstr("lacks the key " + key)) << at;
    ++removed;
  };
  for (const char* const at : {"", "/counters", "/files/0", "/tensors/w", "/tensors/w/boxes/1"}) {
    const json::json_pointer pointer(at);
    for (const auto& [key, value] : whole[pointer].items()) {
      without(pointer, key);
    }
  }
  EXPECT_EQ(removed, 13 + 5 + 5 + 3 + 5);
}

TEST(ManifestReader, NamesKeysThatItDoesNotKnow) {
  for (const char* const at : {"", "/counters", "/files/0", "/tensors/w", "/tensors/w/boxes/1"}) {
    json value = sample();
    value[json::json_pointer(at)]["colour"] = 1;
    EXPECT_THAT(refusal(value), HasSubstr("has the key colour, which version 1 does not know"))
        << at;
  }
}

TEST(ManifestReader, NamesKeysThatAreGivenTwice) {
  const std::string text = sample().dump();
  for (const std::string key : {"run", "step", "name", "dtype", "begin", "w", "training.steps"}) {
    const size_t at = text.find('"' + key + "\":");
    ASSERT_NE(at, std::string::npos) << key;
    std::string twice = text;
    twice.insert(at, '"' + key + "\":0,");
    EXPECT_EQ(read_manifest(twice).error().text, "duplicate key " + key);
  }
}

TEST(ManifestReader, WantsEachValueOfItsKind) {
  const json whole = sample();
  int refused = 0;
  const json flat = whole.flatten();
  for (const auto& [pointer, value] : flat.items()) {
    for (const json& other :
         {json(nullptr), json(-1), json(1.5), json::array({1}), json::object()}) {
      json changed = whole;
      changed[json::json_pointer(pointer)] = other;
      EXPECT_NE(refusal(changed), "accepted") << pointer << ' ' << other;
      ++refused;
    }
  }
  EXPECT_GT(refused, 200);
  EXPECT_EQ(refusal_after([](json& m) { m["counters"]["step"] = -3; }),
            "counters: step has to be an integer from 0 to 2^63 - 1, and is -3");
  EXPECT_EQ(refusal_after([](json& m) { m["counters"]["step"] = uint64_t{1} << 63; }),
            "counters: step has to be an integer from 0 to 2^63 - 1, and is 9223372036854775808");
  EXPECT_EQ(refusal_after([](json& m) { m["files"][0]["header_crc32c"] = "0000000G"; }),
            "file 0: header_crc32c has to be 8 hexadecimal digits, and is \"0000000G\"");
}

// R126: no name leads out of the folder.
TEST(ManifestReader, R126RefusesFileNamesThatLeadElsewhere) {
  for (const std::string& name : {std::string("../evil.safetensors"),
                                  std::string("/etc/passwd"),
                                  std::string("sub/../../x"),
                                  std::string("a\0b", 3),
                                  std::string(),
                                  std::string("."),
                                  std::string("..")}) {
    EXPECT_EQ(refusal_after([&](json& m) { m["files"][1]["name"] = name; }),
              "file 1: its name has to be that of a file in the folder itself, and is " +
                  shown_name(name));
  }
  EXPECT_EQ(refusal_after([](json& m) { m["files"][1]["name"] = "a"; }), "file a is listed twice");
}

TEST(ManifestReader, RefusesBoxesOutsideTheirTensorOrFile) {
  const auto box = [](const char* key, const json& value) {
    return refusal_after([&](json& m) { m["tensors"]["w"]["boxes"][0][key] = value; });
  };
  EXPECT_EQ(box("end", {11, 5}), "tensor w: range 0:11 does not lie within dim 0 of 10");
  EXPECT_EQ(box("begin", {6, 0}), "tensor w: range 6:5 does not lie within dim 0 of 10");
  EXPECT_EQ(box("end", {5}), "tensor w: a box needs 2 ranges, one per dim");
  EXPECT_EQ(box("file", 2), "tensor w[0:5,0:5]: file 2 of 2");
  EXPECT_EQ(box("offset", 99), "tensor w[0:5,0:5]: 100 bytes at 99 do not lie in a");
  EXPECT_EQ(box("offset", 201), "tensor w[0:5,0:5]: 100 bytes at 201 do not lie in a");
  EXPECT_EQ(box("offset", std::numeric_limits<int64_t>::max()),
            "tensor w[0:5,0:5]: 100 bytes at 9223372036854775807 do not lie in a");
  EXPECT_EQ(box("crc32c", {"00000001"}), "tensor w[0:5,0:5]: 1 checksums for 2 blocks");
  EXPECT_EQ(refusal_after([](json& m) { m["files"][0]["header_bytes"] = 301; }),
            "file a: a header of 301 bytes in 300");
}

TEST(ManifestReader, RefusesBytesThatTwoBoxesShare) {
  EXPECT_EQ(refusal_after([](json& m) { m["tensors"]["s"]["boxes"][0]["offset"] = 196; }),
            "tensors w and s share bytes of a");
}

TEST(ManifestReader, RefusesTypesAndSizesThatCannotBe) {
  EXPECT_EQ(refusal_after([](json& m) { m["tensors"]["w"]["dtype"] = "F33"; }),
            "tensor w: unknown dtype F33");
  EXPECT_EQ(refusal_after([](json& m) { m["tensors"]["w"]["dtype"] = "F4"; }),
            "tensor w: elements of type F4 are no whole bytes");
  const int64_t half = int64_t{1} << 32;
  for (const json& shape : {json{half, half}, json{half, half, 0}, json{int64_t{1} << 58}}) {
    EXPECT_THAT(refusal_after([&](json& m) { m["tensors"]["w"]["shape"] = shape; }),
                HasSubstr("has more bytes than can be counted"))
        << shape;
  }
  EXPECT_EQ(refusal_after([](json& m) { m["block_bytes"] = 0; }),
            "block_bytes has to be at least 1");
}

TEST(ManifestReader, RefusesNestingWithoutEnd) {
  EXPECT_FALSE(read_manifest(std::string(1'000'000, '[')));
  std::string deep;
  for (int i = 0; i < 100'000; ++i) {
    deep += R"({"a":)";
  }
  EXPECT_FALSE(read_manifest(deep));
}

/// One small change of the text or of the tree.
std::string mutated(const json& whole, std::mt19937& random) {
  static const std::vector<json> kValues = {nullptr,
                                            true,
                                            0,
                                            1,
                                            -1,
                                            1.5,
                                            int64_t{1} << 40,
                                            std::numeric_limits<int64_t>::max(),
                                            std::numeric_limits<uint64_t>::max(),
                                            "",
                                            "..",
                                            "F4",
                                            "00000000",
                                            json::array(),
                                            json::object(),
                                            json{0, 0},
                                            json{10, 5}};
  const auto kind = random() % 6;
  if (kind < 3) {
    std::string text = whole.dump();
    const size_t at = random() % text.size();
    if (kind == 0) {
      text[at] = static_cast<char>(text[at] ^ (1 << random() % 8));
    } else if (kind == 1) {
      text.resize(at);
    } else {
      text.insert(at, text.substr(random() % text.size(), random() % 40));
    }
    return text;
  }
  json value = whole;
  const json flat = whole.flatten();
  json::json_pointer at(
      std::next(flat.begin(), static_cast<std::ptrdiff_t>(random() % flat.size())).key());
  for (auto up = random() % 3; up > 0 && !at.empty(); --up) {
    at = at.parent_pointer();
  }
  if (kind == 3 && !at.empty() && value[at.parent_pointer()].is_object()) {
    value[at.parent_pointer()].erase(at.back());
  } else if (kind == 4 && value[at].is_array() && !value[at].empty()) {
    value[at].push_back(value[at][random() % value[at].size()]);
  } else {
    value[at] = kValues[random() % kValues.size()];
  }
  return value.dump();
}

/// What must be true of all that is accepted.
void expect_sound(const Manifest& manifest) {
  std::set<std::string> names;
  for (const ManifestFile& file : manifest.files) {
    EXPECT_TRUE(is_plain_name(file.name));
    EXPECT_TRUE(names.insert(file.name).second);
    EXPECT_LE(file.header_bytes, file.bytes);
  }
  EXPECT_GT(manifest.block_bytes, 0U);
  for (const auto& [name, tensor] : manifest.tensors) {
    ASSERT_EQ(bits_of(tensor.type) % 8, 0U);
    for (const ManifestBox& box : tensor.boxes) {
      ASSERT_EQ(box.box.dims.size(), tensor.shape.size());
      const auto bytes = static_cast<uint64_t>(box.box.element_count()) * bits_of(tensor.type) / 8;
      ASSERT_LT(box.file, manifest.files.size());
      EXPECT_GE(box.offset, manifest.files[box.file].header_bytes);
      EXPECT_LE(box.offset + bytes, manifest.files[box.file].bytes);
      EXPECT_EQ(box.crc32c.size(), (bytes + manifest.block_bytes - 1) / manifest.block_bytes);
    }
  }
  EXPECT_TRUE(check_coverage(manifest));
}

// R125, the manifest's half.
TEST(ManifestReader, R125AcceptsNoMutationThatBreaksAnInvariant) {
  const json whole = sample();
  std::mt19937 random(125);
  int accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto manifest = parse_manifest(framed(mutated(whole, random)), "m");
    if (manifest) {
      expect_sound(*manifest);
      ++accepted;
    }
  }
  EXPECT_GT(accepted, 100) << "texts and counters may change";
  EXPECT_LT(accepted, 10'000);
}

}  // namespace
}  // namespace brigade::checkpoint
