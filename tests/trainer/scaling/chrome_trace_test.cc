// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/chrome_trace.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "parallel/base/text.h"
#include "tests/trainer/scaling/hand_made.h"

namespace brigade::scaling {
namespace {

using nlohmann::json;
using testing::HandMade;
using testing::one_f_one_b;

/// The events of `phase`, in their order.
std::vector<json> events_of(const std::string& trace, const std::string& phase) {
  std::vector<json> found;
  const json read = json::parse(trace);
  for (const json& event : read.at("traceEvents")) {
    if (event.at("ph") == phase) {
      found.push_back(event);
    }
  }
  return found;
}

TEST(ChromeTrace, NamesEachRankAProcess) {
  std::map<int64_t, std::string> names;
  for (const json& event : events_of(chrome_trace(one_f_one_b()), "M")) {
    if (event.at("name") == "process_name") {
      names[event.at("pid")] = event.at("args").at("name");
    }
  }
  EXPECT_EQ(names, (std::map<int64_t, std::string>{{0, "rank 0"}, {1, "rank 1"}}));
}

TEST(ChromeTrace, ShowsASpanWithItsMicrosecondsAndItsPlace) {
  std::vector<RankTimeline> timelines = one_f_one_b();
  timelines[1].spans[1].step = 7;
  timelines[1].spans[1].stage = 1;
  timelines[1].spans[1].unit = 2;
  for (const json& event : events_of(chrome_trace(timelines), "X")) {
    if (event.at("pid") == 1 && event.at("name") == "forward" && event.at("ts") == 12000) {
      EXPECT_EQ(event.at("dur"), 10000);
      EXPECT_EQ(event.at("cat"), "activity");
      EXPECT_EQ(event.at("args"),
                (json{{"step", 7}, {"stage", 1}, {"unit", 2}, {"microbatch", 0}}));
      return;
    }
  }
  FAIL() << "no forward";
}

TEST(ChromeTrace, ShowsAnOperationAsPostingWaitAndFlight) {
  const RankTimeline rank = HandMade(0, 2)
                                .group("dp_shard", {0, 1})
                                .operation(Activity::kAllGather, 0, 3, {5, 6, 20, 24.5});
  const std::string trace = chrome_trace({rank});
  const std::vector<json> slices = events_of(trace, "X");
  ASSERT_EQ(slices.size(), 2U);
  EXPECT_EQ(slices[0].at("name"), "post all_gather dp_shard");
  EXPECT_EQ(slices[0].at("ts"), 0) << "times count from the first span";
  EXPECT_EQ(slices[0].at("dur"), 1000);
  EXPECT_EQ(slices[1].at("name"), "all_gather dp_shard");
  EXPECT_EQ(slices[1].at("ts"), 15000);
  EXPECT_EQ(slices[1].at("dur"), 4500);
  EXPECT_EQ(slices[1].at("args"), (json{{"bytes", 1024}, {"sequence", 3}}));
  const std::vector<json> begins = events_of(trace, "b");
  const std::vector<json> ends = events_of(trace, "e");
  ASSERT_EQ(begins.size(), 1U);
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(begins[0].at("id"), ends[0].at("id"));
  EXPECT_EQ(begins[0].at("ts"), 0);
  EXPECT_EQ(ends[0].at("ts"), 19500);
}

TEST(ChromeTrace, DrawsAnArrowFromEachSendIntoTheWaitOfItsReceive) {
  const std::string trace = chrome_trace(one_f_one_b());
  std::map<int64_t, json> begins;
  for (const json& event : events_of(trace, "s")) {
    EXPECT_TRUE(begins.emplace(event.at("id"), event).second) << "an id of its own";
  }
  const std::vector<json> ends = events_of(trace, "f");
  ASSERT_EQ(ends.size(), 4U);
  ASSERT_EQ(begins.size(), 4U);
  std::set<std::pair<double, double>> arrows;
  for (const json& end : ends) {
    const json& begin = begins.at(end.at("id"));
    EXPECT_EQ(end.at("bp"), "e");
    EXPECT_EQ(begin.at("name"), end.at("name"));
    EXPECT_NE(begin.at("pid"), end.at("pid"));
    arrows.emplace(begin.at("ts"), end.at("ts"));
  }
  EXPECT_EQ(arrows,
            (std::set<std::pair<double, double>>{
                {10000, 11999.999}, {20000, 42000}, {42000, 43999.999}, {72000, 73999.999}}));
}

TEST(ChromeTrace, OfOneRankHoldsNoOtherAndNoArrows) {
  const std::string trace = chrome_trace(one_f_one_b(), 1);
  const json read = json::parse(trace);
  for (const json& event : read.at("traceEvents")) {
    EXPECT_EQ(event.at("pid"), 1);
  }
  EXPECT_EQ(events_of(trace, "X").size(), 5U + 1U + 2U * 5U);
  EXPECT_TRUE(events_of(trace, "s").empty());
  EXPECT_TRUE(events_of(trace, "f").empty());
}

TEST(ChromeTrace, AReceiveWhoseSendIsMissingHasNoArrow) {
  const RankTimeline rank =
      HandMade(0, 2).group("pp", {0, 1}).message(Activity::kReceive, 1, 5, {0, 1, 2, 3});
  EXPECT_TRUE(events_of(chrome_trace({rank}), "f").empty());
}

TEST(ChromeTrace, OfNothingIsStillATrace) {
  EXPECT_TRUE(json::parse(chrome_trace({})).at("traceEvents").empty());
  EXPECT_EQ(json::parse(chrome_trace({RankTimeline{}})).at("traceEvents").size(), 2U);
}

TEST(ChromeTrace, QuotesWhateverAGroupIsCalled) {
  const RankTimeline rank = HandMade(0, 1)
                                .group("a \"quoted\" \\ name \xff", {0})
                                .operation(Activity::kBarrier, 0, 0, {0, 1, 2, 3});
  EXPECT_EQ(events_of(chrome_trace({rank}), "X").size(), 2U);
}

TEST(ChromeTrace, IsWrittenToAFileOrNamesTheOneItCannotWrite) {
  const std::string path = concat(::testing::TempDir(), "chrome_trace.json");
  ASSERT_TRUE(write_chrome_trace(path, one_f_one_b()));
  std::ifstream file(path);
  EXPECT_EQ(json::parse(file).at("traceEvents").size(),
            json::parse(chrome_trace(one_f_one_b())).at("traceEvents").size());
  std::filesystem::remove(path);
  const std::string nowhere = concat(::testing::TempDir(), "no_such_folder/trace.json");
  const Result<void> refused = write_chrome_trace(nowhere, one_f_one_b());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kIo);
  EXPECT_EQ(refused.error().text, concat("cannot write ", nowhere, ": No such file or directory"));
}

}  // namespace
}  // namespace brigade::scaling
