// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/earlier_records.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade::metrics {
namespace {

using ::testing::HasSubstr;

class EarlierRecords : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "earlier_records_" + std::to_string(getpid());
    std::filesystem::create_directories(folder_);
    path_ = folder_ + "/metrics.jsonl";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string kept(const std::string& text, int64_t step) {
    std::ofstream(path_, std::ios::binary) << text;
    keep_earlier_records(path_, step, warning_);
    return read();
  }

  std::string read() const {
    std::ostringstream text;
    text << std::ifstream(path_, std::ios::binary).rdbuf();
    return text.str();
  }

  std::string folder_;
  std::string path_;
  std::string said_;
  DiskWarning warning_{[this](const std::string& text) { said_ += text; }};
};

TEST_F(EarlierRecords, StayAndLaterOnesGo) {
  EXPECT_EQ(kept("{\"step\": 1, \"loss\": 5.5}\n{\"step\": 2}\n{\"step\": 3}\n", 2),
            "{\"step\": 1, \"loss\": 5.5}\n{\"step\": 2}\n");
  EXPECT_EQ(kept("{\"step\": 7}\n", 2), "");
  EXPECT_EQ(said_, "");
}

TEST_F(EarlierRecords, GoWhereTheyAreTorn) {
  EXPECT_EQ(kept("{\"step\": 1}\n{\"step\": 2, \"lo", 2), "{\"step\": 1}\n");
  EXPECT_EQ(kept("{\"step\": 1}\n{\"step\": 1", 2), "{\"step\": 1}\n");
  EXPECT_EQ(kept("{\"step\": 1}\n{\"step\": 2}", 2), "{\"step\": 1}\n{\"step\": 2}\n");
  EXPECT_EQ(kept("{\"step\": 1}\n\n[]\n{}\n{\"step\": \"2\"}\n{\"step\": 2.5}\n", 2),
            "{\"step\": 1}\n");
}

TEST_F(EarlierRecords, LeaveAFileAloneThatHasNoOthers) {
  const auto inode = [this] {
    struct stat status = {};
    EXPECT_EQ(stat(path_.c_str(), &status), 0);
    return status.st_ino;
  };
  std::ofstream{path_};
  const auto before = inode();
  EXPECT_EQ(kept("{\"step\": 1}\n{\"step\": 2}\n", 2), "{\"step\": 1}\n{\"step\": 2}\n");
  EXPECT_EQ(inode(), before);
}

TEST_F(EarlierRecords, NeedNoFile) {
  keep_earlier_records(folder_ + "/absent", 3, warning_);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/absent"));
  EXPECT_EQ(said_, "");
}

TEST_F(EarlierRecords, StayBehindALink) {
  const std::string target = folder_ + "/elsewhere";
  std::filesystem::create_symlink(target, path_);
  EXPECT_EQ(kept("{\"step\": 1}\n{\"step\": 3}\n", 2), "{\"step\": 1}\n");
  EXPECT_TRUE(std::filesystem::is_symlink(path_));
}

TEST_F(EarlierRecords, StayAllWhenTheFileCannotBeReplaced) {
  std::filesystem::create_directories(path_ + ".new/full");
  EXPECT_EQ(kept("{\"step\": 1}\n{\"step\": 3}\n", 2), "{\"step\": 1}\n{\"step\": 3}\n");
  EXPECT_THAT(said_, HasSubstr("warning: could not write " + path_));
}

}  // namespace
}  // namespace brigade::metrics
