// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/shard_writer.h"

#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/crc32c.h"
#include "tests/trainer/checkpoint/grid_state.h"
#include "tests/trainer/checkpoint/temporary_folder.h"
#include "trainer/checkpoint/convert_elements.h"
#include "trainer/checkpoint/safetensors.h"

namespace brigade::checkpoint {
namespace {

using ::testing::HasSubstr;

TEST(ShardWriter, WritesAFileThatTheFormatsReaderTakes) {
  const TemporaryFolder folder;
  const std::vector<float> part = numbers_of({5, 2}, {{{3, 5}, {0, 2}}});
  const std::vector<double> wide = {1.0, 2.0};
  const std::vector<StateBox> boxes = {
      {"z.part", ElementType::kF32, {5, 2}, {{{3, 5}, {0, 2}}}, std::as_bytes(std::span(part))},
      {"a.scalar", ElementType::kF32, {}, {}, std::as_bytes(std::span(part).first(1))},
      {"wide", ElementType::kF64, {2}, {{{0, 2}}}, std::as_bytes(std::span(wide))},
      {"nothing", ElementType::kF32, {0, 3}, {{{0, 0}, {0, 3}}}, {}}};
  const Manifest record = value_or_throw(write_shard(folder.path(), shard_name(3), 3, boxes));
  const std::string path = folder / "rank-00003.safetensors";
  const auto file = value_or_throw(SafetensorsFile::open(path));
  EXPECT_EQ(file.header().metadata.at("format"), "pt");
  for (const char* name : {"z.part[3:5,0:2]", "a.scalar", "wide", "nothing"}) {
    EXPECT_TRUE(file.tensor(name)) << name;
  }
  const auto bytes = value_or_throw(file.tensor("z.part[3:5,0:2]")).bytes;
  EXPECT_THAT(bytes, ::testing::ElementsAreArray(std::as_bytes(std::span(part))));

  ASSERT_EQ(record.files.size(), 1U);
  const std::string text = contents(path);
  EXPECT_EQ(record.files[0].name, "rank-00003.safetensors");
  EXPECT_EQ(record.files[0].rank, 3);
  EXPECT_EQ(record.files[0].bytes, text.size());
  EXPECT_EQ(record.files[0].header_bytes, file.header().buffer_begin);
  EXPECT_EQ(record.files[0].header_crc32c,
            crc32c(std::as_bytes(std::span(text)).first(record.files[0].header_bytes)));
  const ManifestBox& placed = record.tensors.at("z.part").boxes[0];
  EXPECT_EQ(text.compare(placed.offset,
                         part.size() * sizeof(float),
                         std::string(reinterpret_cast<const char*>(part.data()),  // NOLINT
                                     part.size() * sizeof(float))),
            0);
  EXPECT_EQ(placed.crc32c, std::vector<uint32_t>{crc32c(std::as_bytes(std::span(part)))});
}

TEST(ShardWriter, HasAChecksumForEachBlock) {
  const TemporaryFolder folder;
  std::vector<float> values(kBlockBytes / sizeof(float) * 2 + 5);
  std::iota(values.begin(), values.end(), 0.0F);
  const auto size = static_cast<int64_t>(values.size());
  const auto bytes = std::as_bytes(std::span(values));
  const std::vector<StateBox> boxes = {{"t", ElementType::kF32, {size}, {{{0, size}}}, bytes}};
  const Manifest record = value_or_throw(write_shard(folder.path(), "file", 0, boxes));
  EXPECT_EQ(record.tensors.at("t").boxes[0].crc32c,
            (std::vector<uint32_t>{crc32c(bytes.first(kBlockBytes)),
                                   crc32c(bytes.subspan(kBlockBytes, kBlockBytes)),
                                   crc32c(bytes.subspan(2 * kBlockBytes))}));
}

TEST(ShardWriter, RoundsWhatIsStoredNarrow) {
  const TemporaryFolder folder;
  std::vector<float> values(kBlockBytes + 3);
  std::iota(values.begin(), values.end(), 0.5F);
  const auto size = static_cast<int64_t>(values.size());
  for (const ElementType type : {ElementType::kBF16, ElementType::kF16}) {
    const std::vector<StateBox> boxes = {
        {"t", ElementType::kF32, {size}, {{{0, size}}}, std::as_bytes(std::span(values)), type}};
    const Manifest record = value_or_throw(write_shard(folder.path(), "file", 0, boxes));
    EXPECT_EQ(record.tensors.at("t").type, type);
    EXPECT_EQ(record.tensors.at("t").boxes[0].crc32c.size(), 3U);  // of bytes in the file
    std::vector<std::byte> wanted(values.size() * 2);
    narrow(values, type, wanted);
    const auto file = value_or_throw(SafetensorsFile::open(folder / "file"));
    EXPECT_TRUE(std::ranges::equal(value_or_throw(file.tensor("t")).bytes, wanted));
  }
}

TEST(ShardWriter, NamesTheFileThatCannotBe) {
  const TemporaryFolder folder;
  const Result<Manifest> record = write_shard(folder / "none", shard_name(12), 12, {});
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().code, ErrorCode::kIo);
  EXPECT_THAT(record.error().text, HasSubstr("none/rank-00012.safetensors"));
}

}  // namespace
}  // namespace brigade::checkpoint
