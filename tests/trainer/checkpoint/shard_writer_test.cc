// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/shard_writer.h"

#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/bf16.h"
#include "parallel/base/check.h"
#include "tests/trainer/checkpoint/sample_checkpoint.h"
#include "tests/trainer/checkpoint/temporary_folder.h"
#include "trainer/checkpoint/safetensors.h"

namespace brigade::checkpoint {
namespace {

using sharding::Box;

TEST(ShardName, HoldsTheRankInFiveDigits) {
  EXPECT_EQ(shard_name(0), "rank-00000.safetensors");
  EXPECT_EQ(shard_name(3), "rank-00003.safetensors");
  EXPECT_EQ(shard_name(123456), "rank-123456.safetensors");
}

TEST(WriteShard, MakesASafetensorsFileOfBoxesByTheirNames) {
  const TemporaryFolder folder;
  const SampleTensor w = {"w", ElementType::kF32, {5, 3}, {}};
  const SampleTensor s = {"s", ElementType::kI64, {}, {}};
  const SampleTensor e = {"e", ElementType::kBF16, {0, 4}, {}};
  const Box part = {{{2, 5}, {1, 3}}};
  const auto w_bytes = w.bytes_of(part);
  const auto s_bytes = s.bytes_of({});
  const std::vector<StateBox> boxes = {{"w", w.type, w.shape, part, w_bytes},
                                       {"e", e.type, e.shape, {{{0, 0}, {0, 4}}}, {}},
                                       {"s", s.type, s.shape, {}, s_bytes}};
  const Manifest record = value_or_throw(write_shard(folder.path(), "f", 3, boxes));
  const auto file = value_or_throw(SafetensorsFile::open(folder / "f"));
  EXPECT_EQ(file.header().metadata, (std::map<std::string, std::string>{{"format", "pt"}}));
  EXPECT_EQ(file.header().tensors.size(), 3U);
  const TensorView view = value_or_throw(file.tensor("w[2:5,1:3]"));
  EXPECT_THAT(view.shape, testing::ElementsAre(3, 2));
  EXPECT_THAT(view.bytes, testing::ElementsAreArray(w_bytes));
  EXPECT_TRUE(view.is_aligned());
  EXPECT_THAT(value_or_throw(file.tensor("s")).bytes, testing::ElementsAreArray(s_bytes));
  EXPECT_THAT(value_or_throw(file.tensor("e")).shape, testing::ElementsAre(0, 4));
  // The record says the same.
  ASSERT_EQ(record.files.size(), 1U);
  EXPECT_EQ(record.files[0].name, "f");
  EXPECT_EQ(record.files[0].rank, 3);
  EXPECT_EQ(record.files[0].bytes, std::filesystem::file_size(folder / "f"));
  EXPECT_EQ(record.files[0].header_bytes, file.header().buffer_begin);
  const std::string text = contents(folder / "f");
  EXPECT_EQ(record.files[0].header_crc32c,
            crc32c(std::as_bytes(std::span(text)).first(file.header().buffer_begin)));
  EXPECT_EQ(record.tensors.at("w").shape, w.shape);
  const ManifestBox& saved = record.tensors.at("w").boxes.at(0);
  EXPECT_EQ(saved.box, part);
  EXPECT_EQ(saved.offset,
            file.header().buffer_begin + file.header().tensors.at("w[2:5,1:3]").begin);
  EXPECT_THAT(saved.crc32c, testing::ElementsAre(crc32c(w_bytes)));
  EXPECT_TRUE(record.tensors.at("e").boxes.at(0).crc32c.empty());
}

TEST(WriteShard, TakesAChecksumOfEachBlock) {
  const TemporaryFolder folder;
  std::vector<float> values(2 * kBlockBytes / sizeof(float) + 5);
  std::iota(values.begin(), values.end(), 0.0F);
  const auto count = static_cast<int64_t>(values.size());
  const auto bytes = std::as_bytes(std::span(values));
  const std::vector<StateBox> boxes = {{"w", ElementType::kF32, {count}, {{{0, count}}}, bytes}};
  const Manifest record = value_or_throw(write_shard(folder.path(), "f", 0, boxes));
  EXPECT_THAT(record.tensors.at("w").boxes.at(0).crc32c,
              testing::ElementsAre(crc32c(bytes.first(kBlockBytes)),
                                   crc32c(bytes.subspan(kBlockBytes, kBlockBytes)),
                                   crc32c(bytes.subspan(2 * kBlockBytes))));
}

TEST(WriteShard, RoundsToTheTypeThatIsStored) {
  const TemporaryFolder folder;
  std::vector<float> values(kBlockBytes / 2 + 3);
  std::iota(values.begin(), values.end(), 0.3F);
  const auto count = static_cast<int64_t>(values.size());
  const std::vector<StateBox> boxes = {{"w",
                                        ElementType::kF32,
                                        {count},
                                        {{{0, count}}},
                                        std::as_bytes(std::span(values)),
                                        ElementType::kBF16}};
  const Manifest record = value_or_throw(write_shard(folder.path(), "f", 0, boxes));
  EXPECT_EQ(record.tensors.at("w").type, ElementType::kBF16);
  EXPECT_EQ(record.tensors.at("w").boxes.at(0).crc32c.size(), 2U);
  const auto file = value_or_throw(SafetensorsFile::open(folder / "f"));
  std::vector<uint16_t> expected;
  for (const float value : values) {
    expected.push_back(float_to_bf16(value));
  }
  EXPECT_THAT(value_or_throw(file.tensor("w")).bytes,
              testing::ElementsAreArray(std::as_bytes(std::span(expected))));
}

TEST(WriteShard, LeavesNoFileBehindWhenItFails) {
  const TemporaryFolder folder;
  const auto missing = write_shard(folder / "no", "f", 0, {});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kIo);
  EXPECT_EQ(missing.error().text,
            (folder / "no/f") + " cannot be created: No such file or directory");
  const std::vector<StateBox> boxes = {{"\xff", ElementType::kF32, {0}, {{{0, 0}}}, {}}};
  EXPECT_THAT(write_shard(folder.path(), "f", 0, boxes).error().text,
              testing::HasSubstr("a name is not UTF-8"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(WriteShard, RefusesBoxesThatContradictThemselves) {
  const TemporaryFolder folder;
  const std::vector<std::byte> bytes(8);
  const StateBox box = {"w", ElementType::kF32, {2}, {{{0, 2}}}, bytes};
  StateBox wide = box;
  wide.box = {{{0, 1}}};
  // Another tensor that is called as a part of the first would be.
  const StateBox part = {"a", ElementType::kF32, {4}, {{{0, 2}}}, bytes};
  const StateBox same = {"a[0:2]", ElementType::kF32, {2}, {{{0, 2}}}, bytes};
  for (const std::vector<StateBox>& wrong :
       {std::vector{wide}, std::vector{box, box}, std::vector{part, same}}) {
    EXPECT_THROW((void)write_shard(folder.path(), "f", 0, wrong), CheckFailure);
  }
}

}  // namespace
}  // namespace brigade::checkpoint
