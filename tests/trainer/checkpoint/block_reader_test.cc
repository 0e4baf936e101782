// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/block_reader.h"

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/crc32c.h"
#include "tests/trainer/checkpoint/temporary_folder.h"

namespace brigade::checkpoint {
namespace {

constexpr uint64_t kBlock = 16;
constexpr uint64_t kBytes = 41;  // two blocks and a half
constexpr uint64_t kOffset = 5;

std::string letters() {
  std::string text;
  for (uint64_t i = 0; i < kBytes; ++i) {
    text += static_cast<char>('a' + i);
  }
  return text;
}

class BlockReaderTest : public ::testing::Test {
 protected:
  BlockReaderTest() {
    box_.offset = kOffset;
    const auto bytes = std::as_bytes(std::span(text_));
    for (uint64_t at = 0; at < kBytes; at += kBlock) {
      box_.crc32c.push_back(crc32c(bytes.subspan(at, std::min(kBlock, kBytes - at))));
    }
  }

  BlockReader reader() { return {file_, box_, kBytes, kBlock, "the box", scratch_}; }

  const std::string text_ = letters();
  ManifestBox box_;
  std::vector<std::byte> scratch_;

 private:
  InputFile written_file() const {
    write_file(folder_ / "file", "12345" + text_ + "more");
    return value_or_throw(InputFile::open(folder_ / "file"));
  }

  const TemporaryFolder folder_;
  const InputFile file_ = written_file();
};

std::string copied(BlockReader& reader, uint64_t from, uint64_t bytes) {
  std::string out(bytes, '?');
  value_or_throw(reader.copy(from, std::as_writable_bytes(std::span(out))));
  return out;
}

TEST_F(BlockReaderTest, CopiesAnyPart) {
  for (uint64_t from = 0; from <= kBytes; ++from) {
    for (uint64_t bytes = 0; from + bytes <= kBytes; ++bytes) {
      BlockReader blocks = reader();
      EXPECT_EQ(copied(blocks, from, bytes), text_.substr(from, bytes));
    }
  }
}

TEST_F(BlockReaderTest, ReadsABlockOnceForAllItsPieces) {
  BlockReader blocks = reader();
  for (uint64_t at = 0; at < kBytes; at += 3) {
    copied(blocks, at, 1);
  }
  EXPECT_EQ(blocks.bytes_read(), kBytes);
  EXPECT_LE(scratch_.size(), kBlock);
}

TEST_F(BlockReaderTest, NeedsNoScratchForWholeBlocks) {
  BlockReader blocks = reader();
  EXPECT_EQ(copied(blocks, 0, kBytes), text_);
  EXPECT_TRUE(scratch_.empty());
}

TEST_F(BlockReaderTest, NamesTheBlockWhoseChecksumDiffers) {
  box_.crc32c[1] ^= 1U;
  BlockReader blocks = reader();
  EXPECT_EQ(copied(blocks, 0, kBlock), text_.substr(0, kBlock));
  for (const uint64_t from : {uint64_t{0}, kBlock, kBlock + 3}) {
    std::vector<std::byte> out(kBlock + 2);
    const Result<void> done = blocks.copy(from, out);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::kData);
    EXPECT_THAT(done.error().text, ::testing::HasSubstr("the box is damaged"));
    EXPECT_THAT(done.error().text, ::testing::HasSubstr("block 1 of 3"));
  }
  EXPECT_EQ(copied(blocks, 2 * kBlock, kBytes - 2 * kBlock), text_.substr(2 * kBlock));
}

}  // namespace
}  // namespace brigade::checkpoint
