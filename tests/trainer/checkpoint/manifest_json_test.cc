// SPDX-License-Identifier: Apache-2.0
#include <random>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/checkpoint/manifest_case.h"
#include "trainer/checkpoint/manifest.h"

namespace brigade::checkpoint {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ManifestJson, ReadsWhatItWrote) {
  const Manifest manifest = manifest_case();
  const std::string text = to_json(manifest);
  EXPECT_EQ(value_or_throw(parse_manifest(text, "m")), manifest);
  EXPECT_THAT(text, StartsWith("{\"crc32c\":\""));
  EXPECT_EQ(text.substr(19, 14), "\",\"manifest\":{");  // the frame has 32 bytes before the brace
  EXPECT_THAT(text, ::testing::EndsWith("}}\n"));
}

TEST(ManifestJson, OfARecipeThatIsNoUtf8IsStillJson) {
  Manifest manifest = manifest_case();
  manifest.recipe["job.dump_folder"] = "\xff";
  EXPECT_TRUE(parse_manifest(to_json(manifest), "m"));
}

TEST(ManifestJson, AnEmptyOrCutTextIsNoManifest) {
  const std::string text = to_json(manifest_case());
  for (size_t size = 0; size < text.size(); ++size) {
    const auto manifest = parse_manifest(text.substr(0, size), "the/file");
    ASSERT_FALSE(manifest) << size;
    EXPECT_EQ(manifest.error().code, ErrorCode::kData);
    EXPECT_THAT(manifest.error().text, StartsWith("the/file"));
  }
  EXPECT_FALSE(parse_manifest(text + " ", "m"));
}

TEST(ManifestJson, EveryFlippedBitIsSeen) {
  const std::string text = to_json(manifest_case());
  for (size_t at = 0; at < text.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = text;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      EXPECT_FALSE(parse_manifest(damaged, "m")) << at << ' ' << bit;
    }
  }
}

TEST(ManifestJson, ARankOwnRecordNeedsNotCoverItsTensors) {
  Manifest record = manifest_case();
  record.tensors["w"].boxes.pop_back();
  const auto whole = parse_manifest(to_json(record), "m");
  ASSERT_FALSE(whole);
  EXPECT_THAT(whole.error().text, AllOf(HasSubstr("w"), HasSubstr("hole")));
  EXPECT_TRUE(parse_manifest(to_json(record), "m", /*whole=*/false));
}

}  // namespace
}  // namespace brigade::checkpoint
