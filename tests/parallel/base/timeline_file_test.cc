// SPDX-License-Identifier: Apache-2.0
#include "parallel/base/timeline_file.h"

#include <filesystem>
#include <fstream>
#include <functional>

#include <gtest/gtest.h>

#include "parallel/base/check.h"
#include "parallel/base/crc32c.h"
#include "parallel/base/text.h"

namespace brigade {
namespace {

RankTimeline example() {
  RankTimeline timeline;
  timeline.rank = 1;
  timeline.ranks = 4;
  timeline.clock = "that machine, since Monday";
  timeline.overwritten = 12;
  timeline.lost_until_ns = 90;
  timeline.groups = {{"dp_replicate·dp_shard", {1, 3}, 0}, {"a, b", {1}, 2}};
  TimedSpan forward{.activity = Activity::kForward,
                    .stage = 1,
                    .unit = 2,
                    .step = 7,
                    .microbatch = 3,
                    .begin_ns = 100,
                    .posted_ns = 100,
                    .wait_ns = 100,
                    .end_ns = 180};
  TimedSpan receive{.activity = Activity::kReceive,
                    .group = 0,
                    .step = 7,
                    .peer = 3,
                    .sequence = 9,
                    .tag = ~uint64_t{0},
                    .bytes = int64_t{1} << 40,
                    .begin_ns = 181,
                    .posted_ns = 182,
                    .wait_ns = 190,
                    .end_ns = 999};
  timeline.spans = {forward, receive};
  return timeline;
}

/// The same file after `change`, with a checksum that is right again.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = timeline_text(example());
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  text.resize(text.rfind("end,"));
  const uint32_t sum = crc32c(std::as_bytes(std::span<const char>(text)));
  return text + concat("end,2,", sum, "\n");
}

std::string refusal_of(const std::string& text) {
  const Result<RankTimeline> read = parse_timeline(text, "t.csv");
  EXPECT_FALSE(read) << text;
  if (read) {
    return "";
  }
  EXPECT_EQ(read.error().code, ErrorCode::kData);
  return read.error().text;
}

std::string temporary_path(const std::string& name) {
  return concat(::testing::TempDir(), "timeline_file_", name);
}

TEST(TimelineFile, IsReadAsItWasWritten) {
  const std::string path = temporary_path("round_trip.csv");
  ASSERT_TRUE(write_timeline(path, example()));
  EXPECT_EQ(read_timeline(path).value(), example());
  std::filesystem::remove(path);
}

TEST(TimelineFile, KeepsATimelineOfNothing) {
  const RankTimeline nothing;
  EXPECT_EQ(parse_timeline(timeline_text(nothing), "t.csv").value(), nothing);
}

TEST(TimelineFile, IsRefusedWhereverItWasCut) {
  const std::string text = timeline_text(example());
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_NE(refusal_of(text.substr(0, size)).find("t.csv:"), std::string::npos) << size;
  }
}

TEST(TimelineFile, IsRefusedWhicheverByteChanged) {
  const std::string text = timeline_text(example());
  for (size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = damaged[i] == '4' ? '5' : '4';
    if (text.find('\n', i) + 1 == text.size() && text.rfind("end,", i) != std::string::npos &&
        i < text.rfind(',')) {
      continue;  // the count, which only people read
    }
    EXPECT_FALSE(parse_timeline(damaged, "t.csv")) << i;
  }
}

TEST(TimelineFile, SaysFileLineAndWhatWouldBeRight) {
  const std::string path = "t.csv:";
  EXPECT_EQ(refusal_of(changed("rank,1,4", "rank,4,4")),
            path + "2: expected a number from 5 to 2147483647, found \"4\"");
  EXPECT_EQ(refusal_of(changed("clock,", "watch,")),
            path + "3: expected a line that begins with \"clock,\", found \"watch\"");
  EXPECT_EQ(refusal_of(changed("2,1 3,", "2,1 4,")),
            path + "6: expected a number from 0 to 3, found \"4\"");
  EXPECT_EQ(refusal_of(changed("forward,", "fordward,")),
            path + "9: expected an activity such as \"forward\", found \"fordward\"");
  EXPECT_EQ(refusal_of(changed("receive,0", "receive,2")),
            path + "10: expected a number from -1 to 1, found \"2\"");
  EXPECT_EQ(refusal_of(changed(",999", ",189")),
            path + "10: a span of receive that ends before it begins");
  EXPECT_EQ(refusal_of(changed(",999", ",999,1")),
            path + "10: expected the end of the line, found \"1\"");
  EXPECT_EQ(refusal_of(changed(",999", "")),
            path +
                "10: expected a number from -9223372036854775808 to 9223372036854775807, "
                "found \"\"");
  EXPECT_EQ(refusal_of("{}\n"), path + "1: expected \"brigade timeline 1\", found \"{}\"");
}

TEST(TimelineFile, NamesTheFileThatCannotBeReadOrWritten) {
  const std::string path = temporary_path("no_such_folder/t.csv");
  const Result<RankTimeline> read = read_timeline(path);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kIo);
  EXPECT_EQ(read.error().text, concat("cannot read ", path, ": No such file or directory"));
  const Result<void> written = write_timeline(path, example());
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::kIo);
  EXPECT_EQ(written.error().text, concat("cannot write ", path, ": No such file or directory"));
  EXPECT_FALSE(read_timeline(::testing::TempDir()));
}

TEST(TimelineFile, RefusesAnEmptyFile) {
  const std::string path = temporary_path("empty.csv");
  std::ofstream(path).close();
  const Result<RankTimeline> read = read_timeline(path);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().text.find(path), std::string::npos);
  std::filesystem::remove(path);
}

TEST(TimelineFile, NamesOfGroupsAreOneLine) {
  RankTimeline timeline;
  timeline.groups = {{"two\nlines", {0}, 0}};
  EXPECT_THROW(timeline_text(timeline), CheckFailure);
}

void steps_of_three_spans(Timeline& timeline, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    const TimelineScope step(&timeline, Activity::kStep, {.step = i});
    { const TimelineScope forward(&timeline, Activity::kForward); }
    { const TimelineScope backward(&timeline, Activity::kBackward); }
  }
}

TEST(TimelineFile, TakesTheLastSteps) {
  Timeline timeline(100, [ticks = int64_t{0}]() mutable { return ++ticks; });
  steps_of_three_spans(timeline, 5);
  const RankTimeline last = last_steps(timeline, 2, {.rank = 1, .ranks = 2, .clock = "c"});
  EXPECT_EQ(last.rank, 1);
  EXPECT_EQ(last.ranks, 2);
  EXPECT_EQ(last.clock, "c");
  ASSERT_EQ(last.spans.size(), 6U);
  EXPECT_EQ(last.spans.front().step, 3);
  EXPECT_EQ(last.spans.back().step, 4);
  EXPECT_EQ(last.lost_until_ns, last.spans[2].begin_ns) << "where the first kept step begins";
  EXPECT_EQ(last_steps(timeline, 9, {}).spans.size(), 15U);
  EXPECT_EQ(last_steps(timeline, 9, {}).lost_until_ns, Timeline::kNothingLost);
}

TEST(TimelineFile, SaysWhatTheRecorderHadNoRoomFor) {
  Timeline timeline(4, [ticks = int64_t{0}]() mutable { return ++ticks; });
  steps_of_three_spans(timeline, 3);
  const RankTimeline last = last_steps(timeline, 2, {});
  EXPECT_EQ(last.overwritten, 5);
  const int64_t begin_of_last_step = last.spans.back().begin_ns;
  EXPECT_EQ(last.spans.size(), 4U);
  EXPECT_LT(last.lost_until_ns, begin_of_last_step) << "the last step is whole";
  EXPECT_GT(last.lost_until_ns, last.spans.front().begin_ns) << "the one before is not";
}

TEST(TimelineFile, ThisMachinesClockHasOneName) {
  EXPECT_EQ(clock_of_this_machine(), clock_of_this_machine());
  EXPECT_EQ(clock_of_this_machine().find('\n'), std::string::npos);
}

}  // namespace
}  // namespace brigade
