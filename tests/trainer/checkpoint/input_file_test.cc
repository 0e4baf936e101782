// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/input_file.h"

#include <filesystem>
#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/checkpoint/temporary_folder.h"

namespace brigade::checkpoint {
namespace {

using ::testing::HasSubstr;

std::string read(const InputFile& file, uint64_t offset, size_t bytes) {
  std::string text(bytes, '?');
  value_or_throw(file.read(offset, std::as_writable_bytes(std::span(text))));
  return text;
}

TEST(InputFile, IsReadAtAnyPlace) {
  const TemporaryFolder folder;
  write_file(folder / "file", "0123456789");
  const InputFile file = value_or_throw(InputFile::open(folder / "file"));
  EXPECT_EQ(file.size(), 10U);
  EXPECT_EQ(read(file, 3, 4), "3456");
  EXPECT_EQ(read(file, 0, 10), "0123456789");
  EXPECT_EQ(read(file, 10, 0), "");
}

TEST(InputFile, SaysWhereAFileEnds) {
  const TemporaryFolder folder;
  write_file(folder / "file", "0123456789");
  const InputFile file = value_or_throw(InputFile::open(folder / "file"));
  std::vector<std::byte> out(4);
  const Result<void> done = file.read(8, out);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kData);
  EXPECT_THAT(done.error().text, HasSubstr((folder / "file") + " ends at byte 10"));
}

// R126: nothing outside the folder is opened by way of a name in it.
TEST(InputFile, R126RefusesLinksAndWhatIsNoFile) {
  const TemporaryFolder folder;
  write_file(folder / "file", "");
  std::filesystem::create_symlink(folder / "file", folder / "link");
  std::filesystem::create_directory(folder / "folder");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  for (const char* name : {"link", "folder", "pipe"}) {
    const auto file = InputFile::open(folder / name);
    ASSERT_FALSE(file) << name;
    EXPECT_EQ(file.error().code, ErrorCode::kData) << name;
    EXPECT_THAT(file.error().text, HasSubstr(folder / name));
  }
  const auto none = InputFile::open(folder / "none");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kIo);
}

TEST(InputFile, ReadsATextOfALimitedSize) {
  const TemporaryFolder folder;
  write_file(folder / "file", "0123456789");
  EXPECT_EQ(value_or_throw(read_text(folder / "file", 10)), "0123456789");
  const auto large = read_text(folder / "file", 9);
  ASSERT_FALSE(large);
  EXPECT_THAT(large.error().text, HasSubstr("has 10 bytes; expected at most 9"));
}

}  // namespace
}  // namespace brigade::checkpoint
