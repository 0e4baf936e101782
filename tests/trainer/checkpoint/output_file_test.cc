// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/output_file.h"

#include <csignal>
#include <sys/resource.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/checkpoint/temporary_folder.h"

namespace brigade::checkpoint {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

size_t entries(const TemporaryFolder& folder) {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    ++count;
  }
  return count;
}

/// While it lives, no file of this process grows beyond so many bytes: a disk that is full.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now = {bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &now);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_ = {};
  void (*handler_)(int);
};

TEST(OutputFile, WritesPieceAfterPieceAndStaysOnceFinished) {
  const TemporaryFolder folder;
  {
    OutputFile file = value_or_throw(OutputFile::create(folder / "f"));
    value_or_throw(file.write(bytes_of("one, ")));
    value_or_throw(file.write({}));
    value_or_throw(file.write(bytes_of("two")));
    value_or_throw(file.finish());
  }
  EXPECT_EQ(contents(folder / "f"), "one, two");
}

TEST(OutputFile, IsGoneUnlessFinished) {
  const TemporaryFolder folder;
  {
    OutputFile file = value_or_throw(OutputFile::create(folder / "f"));
    value_or_throw(file.write(bytes_of("half")));
    EXPECT_TRUE(std::filesystem::exists(folder / "f"));
  }
  EXPECT_EQ(entries(folder), 0U);
}

TEST(OutputFile, MovesWithItsDutyToRemove) {
  const TemporaryFolder folder;
  {
    OutputFile first = value_or_throw(OutputFile::create(folder / "f"));
    OutputFile second = std::move(first);
    value_or_throw(second.write(bytes_of("x")));
    value_or_throw(second.finish());
  }
  EXPECT_EQ(contents(folder / "f"), "x");
}

TEST(OutputFile, TakesTheNameOfALinkAndNotWhatItPointsTo) {
  const TemporaryFolder folder;
  write_file(folder / "elsewhere", "mine");
  std::filesystem::create_symlink(folder / "elsewhere", folder / "f");
  {
    OutputFile file = value_or_throw(OutputFile::create(folder / "f"));
    value_or_throw(file.write(bytes_of("new")));
    value_or_throw(file.finish());
  }
  EXPECT_EQ(contents(folder / "elsewhere"), "mine");
  EXPECT_EQ(contents(folder / "f"), "new");
  EXPECT_FALSE(std::filesystem::is_symlink(folder / "f"));
}

TEST(OutputFile, BeginsAnewWhereAFileHadTheName) {
  const TemporaryFolder folder;
  value_or_throw(write_durably(folder / "f", "a long text"));
  value_or_throw(write_durably(folder / "f", "short"));
  EXPECT_EQ(contents(folder / "f"), "short");
}

TEST(OutputFile, NamesWhatCannotBeMade) {
  const TemporaryFolder folder;
  const auto file = OutputFile::create(folder / "no/f");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kIo);
  EXPECT_EQ(file.error().text, (folder / "no/f") + " cannot be created: No such file or directory");
}

TEST(OutputFile, TakesThePlaceOfAnotherFileOnlyAsAWhole) {
  const TemporaryFolder folder;
  write_file(folder / "target", "old");
  OutputFile file = value_or_throw(OutputFile::create(folder / "new"));
  value_or_throw(file.write(bytes_of("new")));
  EXPECT_EQ(contents(folder / "target"), "old");
  value_or_throw(file.finish_as(folder / "target"));
  EXPECT_EQ(contents(folder / "target"), "new");
  EXPECT_EQ(entries(folder), 1U);
}

TEST(ReplaceDurably, LeavesTheOldTextWhereTheNewOneDoesNotFit) {
  const TemporaryFolder folder;
  value_or_throw(replace_durably(folder / "f", "old"));
  value_or_throw(replace_durably(folder / "f", "newer"));
  EXPECT_EQ(contents(folder / "f"), "newer");
  {
    const FileSizeLimit limit(10'000);
    EXPECT_FALSE(replace_durably(folder / "f", std::string(12'000, 'x')));
  }
  EXPECT_EQ(contents(folder / "f"), "newer");
  EXPECT_EQ(entries(folder), 1U);
}

TEST(OutputFile, SaysWhatTheSystemSaysWhenTheDiskIsFull) {
  const TemporaryFolder folder;
  {
    const FileSizeLimit limit(10'000);
    const std::string half(6000, 'x');
    OutputFile file = value_or_throw(OutputFile::create(folder / "f"));
    value_or_throw(file.write(bytes_of(half)));
    const auto full = file.write(bytes_of(half));
    ASSERT_FALSE(full);
    EXPECT_EQ(full.error().code, ErrorCode::kIo);
    EXPECT_EQ(full.error().text, (folder / "f") + " cannot be written: File too large");
    EXPECT_EQ(std::filesystem::file_size(folder / "f"), 10'000U) << "a short write went on";
  }
  EXPECT_EQ(entries(folder), 0U);
}

TEST(OutputFile, FlushesFoldersAndNamesThoseThatAreNone) {
  const TemporaryFolder folder;
  EXPECT_TRUE(flush_folder(folder.path()));
  write_file(folder / "f", "");
  EXPECT_EQ(flush_folder(folder / "f").error().text,
            (folder / "f") + " cannot be opened: Not a directory");
  EXPECT_TRUE(flush_folder("")) << "the current one";
}

}  // namespace
}  // namespace brigade::checkpoint
