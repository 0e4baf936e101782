// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/output_file.h"

#include <csignal>
#include <sys/resource.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/checkpoint/temporary_folder.h"

namespace brigade::checkpoint {
namespace {

using testing::HasSubstr;

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
    value_or_throw(file.write(std::string_view("one, ")));
    value_or_throw(file.write(std::string_view()));
    value_or_throw(file.write(std::as_bytes(std::span("two", 3))));
    value_or_throw(file.finish());
  }
  EXPECT_EQ(contents(folder / "f"), "one, two");
}

TEST(OutputFile, IsGoneUnlessFinished) {
  const TemporaryFolder folder;
  {
    OutputFile file = value_or_throw(OutputFile::create(folder / "f"));
    value_or_throw(file.write(std::string_view("half")));
    EXPECT_TRUE(std::filesystem::exists(folder / "f"));
  }
  EXPECT_EQ(entries(folder), 0U);
}

TEST(OutputFile, MovesWithItsDutyToRemove) {
  const TemporaryFolder folder;
  {
    OutputFile first = value_or_throw(OutputFile::create(folder / "f"));
    OutputFile second = std::move(first);
    value_or_throw(second.write(std::string_view("x")));
    value_or_throw(second.finish());
  }
  EXPECT_EQ(contents(folder / "f"), "x");
}

TEST(OutputFile, TouchesNothingThatIsThereAlready) {
  const TemporaryFolder folder;
  write_file(folder / "f", "mine");
  const auto file = OutputFile::create(folder / "f");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kIo);
  EXPECT_EQ(file.error().text, (folder / "f") + " cannot be created: File exists");
  EXPECT_EQ(contents(folder / "f"), "mine");
}

TEST(OutputFile, FollowsNoLink) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink(folder / "elsewhere", folder / "f");
  EXPECT_THAT(OutputFile::create(folder / "f").error().text, HasSubstr("File exists"));
  EXPECT_FALSE(std::filesystem::exists(folder / "elsewhere"));
}

TEST(OutputFile, TakesThePlaceOfAnotherFileOnlyAsAWhole) {
  const TemporaryFolder folder;
  write_file(folder / "target", "old");
  OutputFile file = value_or_throw(OutputFile::create(folder / "new", folder / "target"));
  value_or_throw(file.write(std::string_view("new")));
  EXPECT_EQ(contents(folder / "target"), "old");
  value_or_throw(file.finish_as(folder / "target"));
  EXPECT_EQ(contents(folder / "target"), "new");
  EXPECT_EQ(entries(folder), 1U);
}

TEST(OutputFile, SaysWhatTheSystemSaysWhenTheDiskIsFull) {
  const TemporaryFolder folder;
  {
    const FileSizeLimit limit(10'000);
    OutputFile file = value_or_throw(OutputFile::create(folder / "f"));
    value_or_throw(file.write(std::string(6000, 'x')));
    const auto full = file.write(std::string(6000, 'x'));
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
            (folder / "f") + " cannot be opened as a folder: Not a directory");
  EXPECT_EQ(folder_of("a/b/c"), "a/b");
  EXPECT_EQ(folder_of("c"), ".");
}

}  // namespace
}  // namespace brigade::checkpoint
