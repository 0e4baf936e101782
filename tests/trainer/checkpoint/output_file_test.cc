// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/output_file.h"

#include <filesystem>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/checkpoint/temporary_folder.h"

namespace brigade::checkpoint {
namespace {

using ::testing::HasSubstr;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

TEST(OutputFile, StaysWhenFinished) {
  const TemporaryFolder folder;
  {
    OutputFile file = value_or_throw(OutputFile::create(folder / "file"));
    value_or_throw(file.write(bytes_of("one ")));
    value_or_throw(file.write(bytes_of("")));
    value_or_throw(file.write(bytes_of("two")));
    value_or_throw(file.finish());
  }
  EXPECT_EQ(contents(folder / "file"), "one two");
}

TEST(OutputFile, IsGoneUnlessFinished) {
  const TemporaryFolder folder;
  {
    OutputFile file = value_or_throw(OutputFile::create(folder / "file"));
    value_or_throw(file.write(bytes_of("half")));
    const OutputFile moved = std::move(file);
    EXPECT_TRUE(std::filesystem::exists(folder / "file"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "file"));
}

TEST(OutputFile, TakesAnotherNameInOneMove) {
  const TemporaryFolder folder;
  write_file(folder / "target", "old");
  OutputFile file = value_or_throw(OutputFile::create(folder / "temporary"));
  value_or_throw(file.write(bytes_of("new")));
  EXPECT_EQ(contents(folder / "target"), "old");
  value_or_throw(file.finish_as(folder / "target"));
  EXPECT_EQ(contents(folder / "target"), "new");
  EXPECT_FALSE(std::filesystem::exists(folder / "temporary"));
}

TEST(OutputFile, NamesThePathOfWhatFails) {
  const TemporaryFolder folder;
  const auto missing = OutputFile::create(folder / "no/such/file");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kIo);
  EXPECT_THAT(missing.error().text, HasSubstr((folder / "no/such/file") + " cannot be created"));
  EXPECT_FALSE(flush_folder(folder / "none"));
  EXPECT_TRUE(flush_folder(folder.path()));
}

TEST(OutputFile, WritesATextAtOnce) {
  const TemporaryFolder folder;
  value_or_throw(write_durably(folder / "text", "some text"));
  EXPECT_EQ(contents(folder / "text"), "some text");
  EXPECT_FALSE(write_durably(folder / "no/such/text", ""));
}

}  // namespace
}  // namespace brigade::checkpoint
