// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/manifest_reader.h"

#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/trainer/checkpoint/manifest_case.h"

namespace brigade::checkpoint {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// What stands in the frame.
std::string inner_of(const Manifest& manifest) {
  const std::string text = to_json(manifest);
  return text.substr(32, text.size() - 34);
}

std::string problem_of(const std::function<void(json&)>& change) {
  json value = json::parse(inner_of(manifest_case()));
  change(value);
  const Result<Manifest> manifest = read_manifest(value.dump());
  EXPECT_FALSE(manifest);
  return manifest ? "" : manifest.error().text;
}

TEST(ManifestReader, ReadsTheInnerObject) {
  EXPECT_EQ(value_or_throw(read_manifest(inner_of(manifest_case()))), manifest_case());
}

struct Wrong {
  const char* name;
  std::function<void(json&)> change;
  const char* text;
};

json& box(json& value) {
  return value["tensors"]["w"]["boxes"][0];
}

const std::vector<Wrong> kWrong = {
    {"format", [](json& v) { v["format"] = "other"; }, "format has to be brigade-checkpoint"},
    {"version", [](json& v) { v["version"] = 2; }, "version 2 of the format; this program reads"},
    {"missing_key", [](json& v) { v.erase("run"); }, "lacks the key run"},
    {"unknown_key", [](json& v) { v["extra"] = 1; }, "has the key extra"},
    {"unknown_in_box", [](json& v) { box(v)["extra"] = 1; }, "has the key extra"},
    {"text_expected", [](json& v) { v["run"] = 3; }, "run has to be a text, and is number"},
    {"flag_expected", [](json& v) { v["model_only"] = 0; }, "model_only has to be true or false"},
    {"negative", [](json& v) { v["counters"]["step"] = -1; }, "step has to be an integer from 0"},
    {"fraction", [](json& v) { v["counters"]["step"] = 1.5; }, "step has to be an integer from 0"},
    {"too_large",
     [](json& v) { v["counters"]["step"] = uint64_t{1} << 63; },
     "step has to be an integer from 0"},
    {"no_object", [](json& v) { v["tensors"] = json::array(); }, "tensors has to be an object"},
    {"path_above",
     [](json& v) { v["files"][0]["name"] = "../evil.safetensors"; },
     "the folder itself, and is \"../evil.safetensors\""},
    {"absolute_path", [](json& v) { v["files"][0]["name"] = "/etc/passwd"; }, "/etc/passwd"},
    {"path_with_nul",
     [](json& v) { v["files"][0]["name"] = std::string("a\0b", 3); },
     "the folder itself"},
    {"empty_path", [](json& v) { v["files"][0]["name"] = ""; }, "the folder itself, and is \"\""},
    {"file_twice",
     [](json& v) { v["files"][1]["name"] = v["files"][0]["name"]; },
     "rank-00000.safetensors is listed twice"},
    {"header_beyond_file",
     [](json& v) { v["files"][0]["header_bytes"] = 101; },
     "a header of 101 bytes in 100"},
    {"checksum", [](json& v) { v["files"][0]["header_crc32c"] = "0123456G"; }, "8 hexadecimal"},
    {"dtype", [](json& v) { v["tensors"]["w"]["dtype"] = "F99"; }, "w: unknown dtype F99"},
    {"part_of_a_byte", [](json& v) { v["tensors"]["w"]["dtype"] = "F4"; }, "no whole bytes"},
    {"overflow",
     [](json& v) {
       v["tensors"]["w"]["shape"] = {int64_t{1} << 62, int64_t{1} << 62};
     },
     "more bytes than can be counted"},
    {"box_of_other_rank", [](json& v) { box(v)["begin"] = {0}; }, "needs 2 ranges, one per dim"},
    {"box_outside",
     [](json& v) {
       box(v)["end"] = {6, 2};
     },
     "does not lie within dim 0 of 5"},
    {"box_reversed",
     [](json& v) {
       box(v)["begin"] = {4, 0};
     },
     "range 4:3"},
    {"file_index", [](json& v) { box(v)["file"] = 2; }, "file 2 of 2"},
    {"in_the_header", [](json& v) { box(v)["offset"] = 39; }, "do not lie in rank-00000"},
    {"beyond_the_file", [](json& v) { box(v)["offset"] = 77; }, "24 bytes at 77 do not lie in"},
    {"far_beyond",
     [](json& v) { box(v)["offset"] = (uint64_t{1} << 63) - 1; },
     "do not lie in rank-00000"},
    {"checksums", [](json& v) { box(v)["crc32c"].erase(0); }, "1 checksums for 2 blocks"},
    {"shared_bytes",
     [](json& v) { v["tensors"]["s"]["boxes"][0]["offset"] = 94; },
     "tensors w and s share bytes of rank-00001"},
    {"mesh", [](json& v) { v["mesh"][0] = "pp"; }, "an axis has to be [name, size]"},
    {"no_blocks", [](json& v) { v["block_bytes"] = 0; }, "block_bytes has to be at least 1"},
};

TEST(ManifestReader, NamesWhatIsWrong) {
  for (const Wrong& wrong : kWrong) {
    EXPECT_THAT(problem_of(wrong.change), HasSubstr(wrong.text)) << wrong.name;
  }
}

TEST(ManifestReader, RefusesAKeyThatIsGivenTwice) {
  std::string text = inner_of(manifest_case());
  text.insert(1, "\"run\":\"00000000000000bb\",");
  const Result<Manifest> manifest = read_manifest(text);
  ASSERT_FALSE(manifest);
  EXPECT_EQ(manifest.error().text, "duplicate key run");
}

TEST(ManifestReader, RefusesWhatIsNoJson) {
  for (const char* text : {"", "{", "[]", "null", "{}x", "\xff"}) {
    EXPECT_FALSE(read_manifest(text)) << text;
  }
  EXPECT_FALSE(read_manifest(std::string(100'000, '[')));
}

/// A value of another kind or size in the place of one that is there.
json strange(std::mt19937& random) {
  switch (random() % 8) {
    case 0: return nullptr;
    case 1: return -1;
    case 2: return uint64_t{1} << (random() % 64);
    case 3: return 0.5;
    case 4: return std::string(random() % 20, '/');
    case 5: return json::array({int64_t{1} << 62, 4});
    case 6: return json::object();
    default: return random() % 200;
  }
}

/// Changes one value somewhere below `value`.
void change_one(json& value, std::mt19937& random) {
  if (value.is_structured() && !value.empty() && random() % 8 != 0) {
    auto at = value.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(random() % value.size()));
    if (random() % 12 == 0) {
      value.erase(at);
    } else {
      change_one(*at, random);
    }
  } else {
    value = strange(random);
  }
}

// R125's spirit, for the manifest: whatever stands there, the reader refuses it, or what it
// accepts is sound: every box lies in its file and its tensor.
TEST(ManifestReader, TakesNothingUnsoundFromAnyChange) {
  std::mt19937 random(7);
  const json original = json::parse(inner_of(manifest_case()));
  int accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    json value = original;
    for (auto changes = 1 + random() % 3; changes > 0; --changes) {
      change_one(value, random);
    }
    const Result<Manifest> manifest = read_manifest(value.dump());
    if (!manifest) {
      EXPECT_FALSE(manifest.error().text.empty());
      continue;
    }
    accepted += 1;
    for (const auto& [name, tensor] : manifest->tensors) {
      for (const ManifestBox& placed : tensor.boxes) {
        ASSERT_LT(placed.file, manifest->files.size());
        const ManifestFile& file = manifest->files[placed.file];
        const auto bytes =
            static_cast<uint64_t>(placed.box.element_count()) * bits_of(tensor.type) / 8;
        EXPECT_GE(placed.offset, file.header_bytes);
        EXPECT_LE(placed.offset + bytes, file.bytes);
      }
    }
  }
  EXPECT_GT(accepted, 0);  // of texts, names of axes, counters
}

}  // namespace
}  // namespace brigade::checkpoint
