// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/folder_lock.h"

#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/checkpoint/temporary_folder.h"

namespace brigade::checkpoint {
namespace {

using ::testing::HasSubstr;

TEST(FolderLock, HasOneOwnerAndNamesIt) {
  const TemporaryFolder folder;
  const auto lock = value_or_throw(FolderLock::take(folder.path()));
  value_or_throw(lock->set_run("0123456789abcdef"));
  const auto other = FolderLock::take(folder.path());
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::kIo);
  EXPECT_THAT(other.error().text, HasSubstr(concat("process ", ::getpid())));
  EXPECT_THAT(other.error().text, HasSubstr(folder.path().string()));
}

TEST(FolderLock, GoesWithItsOwner) {
  const TemporaryFolder folder;
  value_or_throw(FolderLock::take(folder.path()));
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = FolderLock::take(folder.path());
    ::_exit(lock ? 7 : 1);  // without a destructor
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_TRUE(FolderLock::take(folder.path()));
}

TEST(FolderLock, RemembersTheRun) {
  const TemporaryFolder folder;
  EXPECT_EQ(last_run(folder.path()), "");
  value_or_throw(value_or_throw(FolderLock::take(folder.path()))->set_run("0123456789abcdef"));
  EXPECT_EQ(last_run(folder.path()), "0123456789abcdef");
  for (const char* text : {"", "{\"run\": \"01", "[]", "{\"run\": 3}"}) {
    write_file(folder / "lock", text);
    EXPECT_EQ(last_run(folder.path()), "") << text;
  }
}

TEST(FolderLock, SaysWhereNothingCanBeSaved) {
  const TemporaryFolder folder;
  const auto lock = FolderLock::take(folder / "none");
  ASSERT_FALSE(lock);
  EXPECT_THAT(lock.error().text, HasSubstr(folder / "none"));
}

}  // namespace
}  // namespace brigade::checkpoint
