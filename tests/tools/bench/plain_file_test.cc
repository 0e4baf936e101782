// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/plain_file.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

namespace brigade::bench {
namespace {

class PlainFile : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  const std::string folder_ = ::testing::TempDir() + "plain_file_" + std::to_string(getpid());
};

TEST_F(PlainFile, ReadsWhatWasWrittenAlsoWhenItWasForgotten) {
  std::vector<std::byte> written((3U << 20) + 7);
  for (size_t i = 0; i < written.size(); ++i) {
    written[i] = static_cast<std::byte>(i * 31 >> 3);
  }
  value_or_throw(write_plainly(folder_ + "/file", written));
  value_or_throw(forget(folder_));
  std::vector<std::byte> read(written.size());
  value_or_throw(read_plainly(folder_ + "/file", read));
  EXPECT_EQ(read, written);
}

TEST_F(PlainFile, SaysWhichFileFailed) {
  std::vector<std::byte> bytes(5);
  for (const Result<void>& done : {write_plainly(folder_ + "/none/file", bytes),
                                   read_plainly(folder_ + "/absent", bytes),
                                   forget(folder_ + "/none")}) {
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().text.find(folder_), std::string::npos) << done.error().text;
  }
}

}  // namespace
}  // namespace brigade::bench
