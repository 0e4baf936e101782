// SPDX-License-Identifier: Apache-2.0
#include "tests/support/failing_disk.h"

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/command_run.h"

namespace brigade::testing {
namespace {

using namespace std::chrono_literals;

class FailingDisk : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "failing_disk_" + std::to_string(getpid());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// What the program printed, a line for each of `calls`.
  std::string use(const std::vector<DiskRule>& rules, std::vector<std::string> calls) {
    return use_in(failing_disk(rules), std::move(calls));
  }

  std::string use_in(std::map<std::string, std::string> environment,
                     std::vector<std::string> calls) {
    calls.insert(calls.begin(), {BRIGADE_DISK_USER, folder_});
    CommandRun run({.command = std::move(calls),
                    .environment = std::move(environment),
                    .console = folder_ + "/console"});
    code_ = run.wait(20s).value_or(-1);
    return run.console();
  }

  std::string folder_;
  int code_ = -1;
};

TEST_F(FailingDisk, IsADiskLikeAnyOtherWithoutRules) {
  EXPECT_EQ(use({}, {"write:a:5", "sync:a", "rename:a:b", "mkdir:c", "read:b:9", "remove:b"}),
            "5\n0\n0\n0\n5\n0\n");
  EXPECT_EQ(code_, 0);
}

TEST_F(FailingDisk, FailsEachKindOfCall) {
  const std::vector<std::string> calls = {
      "write:a:5", "sync:a", "rename:a:b", "mkdir:c", "read:b:5", "remove:b"};
  EXPECT_EQ(use({{.calls = "write", .path = "/a", .error = ENOSPC}}, calls),
            "-1ENOSPC\n0\n0\n0\n0\n0\n");
  std::filesystem::remove(folder_ + "/c");
  EXPECT_EQ(use({{.calls = "sync|rename", .path = "/a", .error = EIO}}, calls),
            "5\n-1EIO\n-1EIO\n0\n-1ENOENT\n-1ENOENT\n");
  std::filesystem::remove_all(folder_ + "/c");
  EXPECT_EQ(use({{.calls = "mkdir|create", .path = folder_, .error = EROFS}}, calls),
            "-1EROFS\n0\n0\n-1EROFS\n5\n0\n");
  EXPECT_EQ(use({{.calls = "read|remove", .path = "/b", .error = EACCES}},
                {"write:b:5", "read:b:5", "remove:b", "remove_all:b"}),
            "5\n-1EACCES\n-1EACCES\n-1EACCES\n");
}

TEST_F(FailingDisk, FailsEveryWayOfWriting) {
  EXPECT_EQ(use({{.calls = "write", .path = "/a", .error = EIO}},
                {"write:a:5", "pwrite:a:5", "writev:a:5"}),
            "-1EIO\n-1EIO\n-1EIO\n");
}

TEST_F(FailingDisk, FailsFromACallOnAndForAWhile) {
  EXPECT_EQ(use({{.calls = "write", .path = "/a", .from = 2, .times = 2, .error = EIO}},
                {"write:a:1", "write:b:1", "write:a:1", "write:a:1", "write:a:1"}),
            "1\n1\n-1EIO\n-1EIO\n1\n");
}

TEST_F(FailingDisk, FillsUp) {
  EXPECT_EQ(use({{.calls = "write", .path = "/a", .error = ENOSPC, .fits_bytes = 7}},
                {"write:a:5", "write:a:5", "write:a:5", "write:b:9"}),
            "5\n2\n-1ENOSPC\n9\n");
  EXPECT_EQ(std::filesystem::file_size(folder_ + "/a"), 7U);
  EXPECT_EQ(use({{.calls = "write", .path = "/c", .error = ENOSPC, .fits_bytes = 3}},
                {"writev:c:5", "writev:c:5"}),
            "3\n-1ENOSPC\n");
}

TEST_F(FailingDisk, HasAsMuchSpaceAsItIsTold) {
  EXPECT_EQ(use({{.calls = "space", .path = folder_, .free_bytes = 1 << 20}}, {"space:"}),
            "1048576\n");
}

TEST_F(FailingDisk, FailsForOneRankAlone) {
  std::map<std::string, std::string> environment =
      failing_disk({{.calls = "write", .path = "/a", .rank = 3, .error = EIO}});
  environment["RANK"] = "3";
  EXPECT_EQ(use_in(environment, {"write:a:1"}), "-1EIO\n");
  environment["RANK"] = "2";
  EXPECT_EQ(use_in(environment, {"write:a:1"}), "1\n");
  environment.erase("RANK");
  EXPECT_EQ(use_in(environment, {"write:a:1"}), "1\n");
}

TEST_F(FailingDisk, KillsAtACall) {
  EXPECT_EQ(use({{.calls = "rename", .path = "/a -> ", .kill = Kill::kCaller}},
                {"write:a:1", "rename:a:b", "mkdir:c"}),
            "1\n");
  EXPECT_EQ(code_, 137);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/b"));
}

TEST_F(FailingDisk, ThrowsOutOfACall) {
  EXPECT_EQ(use({{.calls = "write", .path = "/a", .throws = true}}, {"write:b:1", "write:a:1"}),
            "1\ncaught: the drill's own exception\n");
}

TEST_F(FailingDisk, Waits) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(use({{.calls = "sync", .path = "/a", .delay_ms = 300}}, {"write:a:1", "sync:a"}),
            "1\n0\n");
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 300ms);
}

TEST_F(FailingDisk, LogsCalls) {
  const std::string log = folder_ + "/log";
  EXPECT_EQ(use({{.calls = "read|rename", .path = folder_, .log = log}},
                {"write:a b:9", "read:a b:4", "rename:a b:b", "read:b:99", "read:no:1"}),
            "9\n4\n0\n9\n-1ENOENT\n");
  const std::vector<DiskCall> calls = logged_calls(log);
  ASSERT_EQ(calls.size(), 3U);
  EXPECT_EQ(calls[0].rank, -1);
  EXPECT_EQ(calls[0].call, "read");
  EXPECT_EQ(calls[0].result, 4);
  EXPECT_EQ(calls[0].path, folder_ + "/a b");
  EXPECT_EQ(calls[1].call, "rename");
  EXPECT_EQ(calls[1].path, folder_ + "/a b -> " + folder_ + "/b");
  EXPECT_EQ(calls[2].result, 9);
}

}  // namespace
}  // namespace brigade::testing
