// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/run_output.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "tests/trainer/checkpoint/temporary_folder.h"

namespace brigade::study {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RunOutputTest : public ::testing::Test {
 protected:
  std::string file(const std::string& text) const {
    const std::string path = concat(folder_.path().string(), "/file");
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  const TemporaryFolder folder_;
};

TEST_F(RunOutputTest, TheLastLinesAreThoseThatSaySomething) {
  EXPECT_THAT(last_lines(file("a\nb\n\n\nc"), 2), ElementsAre("b", "c"));
  EXPECT_THAT(last_lines(file("10%\r20%\r30%"), 2), ElementsAre("20%", "30%"));
  EXPECT_THAT(last_lines(file(""), 2), IsEmpty());
  EXPECT_THAT(last_lines("/nowhere", 2), IsEmpty());
}

TEST_F(RunOutputTest, WhatCouldMoveATerminalIsTakenOut) {
  EXPECT_THAT(last_lines(file("\033[31mred\ttab \xc3\xa9 \xc2\x9b \xff\xe2\x82"), 1),
              ElementsAre("?[31mred tab \xc3\xa9 ?? ???"));
  const std::vector<std::string> cut = last_lines(file(std::string(5000, 'x')), 1);
  EXPECT_EQ(cut.at(0), std::string(300, 'x') + "...");
}

TEST_F(RunOutputTest, StepsAfterTheWarmUpAreKept) {
  const Result<RunResult> read =
      read_own_records(file("{\"step\":1,\"step_ms\":90,\"memory_bytes\":9}\n"
                            "{\"step\":2,\"step_ms\":20.5,\"memory_bytes\":5}\n"
                            "{\"step\":3,\"step_ms\":21,\"memory_bytes\":7}\n"),
                       1,
                       2);
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_THAT(read->step_ms, ElementsAre(20.5, 21));
  EXPECT_THAT(read->peak_bytes, ElementsAre(7));
}

TEST_F(RunOutputTest, AMissingOrTornRecordIsSaid) {
  const std::string path = file("{\"step\":1,\"step_ms\":90}\n{\"step\":2,\"step_m");
  EXPECT_EQ(read_own_records(path, 0, 2).error().text,
            "the run ended, but recorded 1 of 2 steps after 0 of warm-up: " + path);
  EXPECT_FALSE(read_own_records("/nowhere", 0, 1));
}

TEST_F(RunOutputTest, ThePeersLastJsonLineCounts) {
  const Result<RunResult> read = read_peer_output(
      file("noise\n{\"step_ms_median\": 1}\n{\"step_ms_median\": 48.9, \"tokens_per_s\": 20940, "
           "\"peak_rss_mb_per_rank\": [2, 3.5], \"comm_bytes_per_step_all_ranks\": 100}\nbye"));
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_THAT(read->step_ms, ElementsAre(48.9));
  EXPECT_THAT(read->peak_bytes, ElementsAre(2 << 20, 7 << 19));
  EXPECT_EQ(read->bytes_by_axis.at("all"), 100);
}

TEST_F(RunOutputTest, APeerWithoutJsonIsToldByWhatItPrinted) {
  EXPECT_EQ(read_peer_output(file("hello\n[1]\n3\n")).error().text,
            "the peer printed no line that is a JSON object; its last line: 3");
  EXPECT_THAT(read_peer_output(file("")).error().text, HasSubstr("it printed nothing"));
  EXPECT_THAT(
      read_peer_output(file("{\"step_ms_median\": null}")).error().text,
      HasSubstr("no step_ms_median between a nanosecond and a year: {\"step_ms_median\":null}"));
  for (const char* odd : {"{\"step_ms_median\": -1}",
                          "{\"step_ms_median\": \"48\"}",
                          "{\"step_ms_median\": 1e999}",
                          "{\"step_ms_median\": [1]}",
                          "{\"\\ud800\": 1}",
                          "{}"}) {
    EXPECT_FALSE(read_peer_output(file(odd))) << odd;
  }
}

TEST_F(RunOutputTest, APeersOwnWordsOfItsFailureArePassedOn) {
  const Result<RunResult> read = read_peer_output(
      file("{\"peer\": \"fsdp2\", \"failed\": \"a rank failed\", \"message\": \"OSError: x\"}\n"));
  EXPECT_EQ(read.error().code, ErrorCode::kAborted);
  EXPECT_EQ(read.error().text, "the peer says that it failed: a rank failed: OSError: x");
}

}  // namespace
}  // namespace brigade::study
