// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/checkpoint/sample_checkpoint.h"
#include "trainer/checkpoint/manifest.h"

namespace brigade::checkpoint {
namespace {

using testing::HasSubstr;

Manifest sample() {
  Manifest manifest = sample_head(7);
  manifest.recipe["job.description"] = "quotes \" and \xc3\xa4, and\nlines";
  manifest.files = {{"rank-00000.safetensors", 0, 128, 64, 0x0000beef}, {"b", 4, 80, 72, 0}};
  manifest.tensors["w"] = {
      ElementType::kF32,
      {4, 2},
      {{{{{0, 1}, {0, 2}}}, 1, 72, {0x00c0ffee}}, {{{{1, 4}, {0, 2}}}, 0, 64, {0xffffffff}}}};
  manifest.tensors["scalar"] = {ElementType::kBF16, {}, {{{}, 0, 88, {5}}}};
  manifest.tensors["empty"] = {ElementType::kI64, {0, 3}, {}};
  return manifest;
}

std::string refusal(const std::string& text) {
  const auto manifest = parse_manifest(text, "m");
  if (manifest) {
    return "accepted";
  }
  EXPECT_EQ(manifest.error().code, ErrorCode::kData);
  return manifest.error().text;
}

TEST(ManifestJson, ReadsWhatItWrites) {
  EXPECT_EQ(value_or_throw(parse_manifest(to_json(sample()), "m")), sample());
}

TEST(ManifestJson, StandsInAFixedFrame) {
  const std::string text = to_json(sample());
  EXPECT_EQ(text.substr(0, 11), R"({"crc32c":")");
  EXPECT_EQ(text.substr(19, 13), R"(","manifest":)");
  EXPECT_EQ(text[32], '{');
  EXPECT_EQ(text.substr(text.size() - 3), "}}\n");
  EXPECT_EQ(framed(unframed(text)), text);
}

TEST(ManifestJson, RefusesAnotherFrame) {
  const std::string text = to_json(sample());
  const std::string inner = unframed(text);
  std::string capital = text;
  capital[11] = 'A';
  for (const std::string& wrong : {std::string(),
                                   std::string("{}"),
                                   inner,
                                   text.substr(0, text.size() - 1),
                                   text + "\n",
                                   text + " ",
                                   " " + text,
                                   framed(""),
                                   framed(" " + inner),
                                   framed(inner + "\n"),
                                   framed("[]")}) {
    EXPECT_THAT(refusal(wrong), HasSubstr("m is no manifest of a checkpoint")) << wrong;
  }
  EXPECT_THAT(refusal(capital), HasSubstr("m is damaged: its checksum is "));
}

TEST(ManifestJson, IsCompleteOrDamagedAtEveryByte) {
  const std::string text = to_json(sample());
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_NE(refusal(text.substr(0, size)), "accepted") << size;
  }
  for (size_t at = 0; at < text.size(); ++at) {
    for (const int bit : {0, 3, 7}) {
      std::string damaged = text;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      EXPECT_NE(refusal(damaged), "accepted") << at << ' ' << bit;
    }
  }
}

TEST(ManifestJson, OfARankNeedNotCoverItsTensors) {
  Manifest part = sample();
  part.tensors["w"].boxes.pop_back();
  EXPECT_THAT(refusal(to_json(part)), HasSubstr("m: boxes of tensor w leave a hole"));
  EXPECT_EQ(value_or_throw(parse_manifest(to_json(part), "m", /*whole=*/false)), part);
}

TEST(ManifestJson, SurvivesARecipeThatIsNoUtf8) {
  Manifest manifest = sample();
  manifest.recipe["job.dump_folder"] = "a\xff";
  EXPECT_EQ(value_or_throw(parse_manifest(to_json(manifest), "m")).recipe.at("job.dump_folder"),
            "a\xef\xbf\xbd");
}

}  // namespace
}  // namespace brigade::checkpoint
