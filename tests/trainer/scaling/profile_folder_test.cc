// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/profile_folder.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/trainer/checkpoint/temporary_folder.h"
#include "tests/trainer/scaling/hand_made.h"
#include "trainer/scaling/breakdown.h"

namespace brigade::scaling {
namespace {

using nlohmann::json;
using testing::HandMade;
using ::testing::HasSubstr;
using testing::one_f_one_b;

Profile two_stages() {
  return {.timelines = one_f_one_b(),
          .ranks = {{.peak_bytes = 1'000'001, .bytes_by_axis = {{"pp", 4096}, {"dp·tp", 1.0 / 3}}},
                    {.peak_bytes = int64_t{1} << 40, .bytes_by_axis = {}}}};
}

/// Steps whose lengths are no round numbers of nanoseconds by three.
RankTimeline uneven_steps() {
  HandMade rank(0, 1);
  rank.does(Activity::kForward, 0, 3.000001)
      .step(1, 0, 7.000002)
      .does(Activity::kBackward, 8, 9.1)
      .step(2, 8, 21.000003)
      .does(Activity::kUpdate, 30, 30.7)
      .step(3, 22, 31);
  return rank;
}

class ProfileFolder : public ::testing::Test {
 protected:
  std::string path() const { return folder_ / "profile"; }

  void write(const Profile& profile) const {
    const Result<void> written = write_profile(path(), profile);
    ASSERT_TRUE(written) << written.error().text;
  }

  json read_json(const std::string& name) const {
    return json::parse(contents(path() + "/" + name));
  }

  void expect_refused(ErrorCode code, const std::string& file) const {
    const Result<Profile> read = read_profile(path());
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, code) << read.error().text;
    EXPECT_THAT(read.error().text, HasSubstr(path() + "/" + file));
  }

  const TemporaryFolder folder_;
};

TEST_F(ProfileFolder, GivesBackWhatWasWritten) {
  const Profile profile = two_stages();
  write(profile);
  const Result<Profile> read = read_profile(path());
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_EQ(read->timelines, profile.timelines);
  EXPECT_EQ(read->ranks, profile.ranks);
}

TEST_F(ProfileFolder, IsReplacedByTheNextProfile) {
  write(two_stages());
  write({.timelines = {uneven_steps()}, .ranks = {{.peak_bytes = 5}}});
  const Profile read = value_or_throw(read_profile(path()));
  EXPECT_EQ(read.timelines, std::vector<RankTimeline>{uneven_steps()});
  EXPECT_EQ(read.ranks.size(), 1U);
}

TEST_F(ProfileFolder, HoldsATraceOfAllRanks) {
  write(two_stages());
  std::vector<bool> seen(2);
  const json trace = read_json("trace.json");
  for (const json& event : trace.at("traceEvents")) {
    seen.at(event.at("pid").get<size_t>()) = true;
  }
  EXPECT_EQ(seen, std::vector<bool>(2, true));
}

TEST_F(ProfileFolder, MeanPartsAddUpToTheMeanStep) {
  for (const auto& timelines : {one_f_one_b(), std::vector<RankTimeline>{uneven_steps()}}) {
    write({.timelines = timelines, .ranks = std::vector<RankFacts>(timelines.size())});
    double mean = 0;
    double steps = 0;
    const std::vector<StepBreakdown> parts = break_down(timelines).value();
    for (const StepBreakdown& step : parts) {
      mean += step.step_ms.at(0);
      ++steps;
    }
    mean /= steps;
    double sum = 0;
    const json profile = read_json("profile.json");
    EXPECT_EQ(profile.at("mean_ms").size(), kParts);
    for (const json& part : profile.at("mean_ms")) {
      sum += part.get<double>();
    }
    EXPECT_NEAR(sum, mean, 1e-9 * mean);
  }
}

TEST_F(ProfileFolder, OfTimelinesWithoutAWholeStepHasNoTimes) {
  write({.timelines = {HandMade(0, 1)}, .ranks = {{.peak_bytes = 7}}});
  const json profile = read_json("profile.json");
  for (const json& part : profile.at("mean_ms")) {
    EXPECT_EQ(part, 0.0);
  }
  EXPECT_EQ(value_or_throw(read_profile(path())).ranks.at(0).peak_bytes, 7);
}

TEST_F(ProfileFolder, NamesTheFileThatIsMissing) {
  expect_refused(ErrorCode::kIo, "profile.json");
  write(two_stages());
  std::filesystem::remove(path() + "/rank_1.timeline");
  expect_refused(ErrorCode::kIo, "rank_1.timeline");
}

TEST_F(ProfileFolder, NamesTheFileThatIsDamaged) {
  write(two_stages());
  const std::string timeline = contents(path() + "/rank_0.timeline");
  write_file(path() + "/rank_0.timeline", timeline.substr(0, timeline.size() / 2));
  expect_refused(ErrorCode::kData, "rank_0.timeline");
  write_file(path() + "/rank_0.timeline", timeline);
  for (const char* text : {"{\"ranks\": [", "{}", "[]", "{\"ranks\": [{\"peak_bytes\": \"x\"}]}"}) {
    write_file(path() + "/profile.json", text);
    expect_refused(ErrorCode::kData, "profile.json");
  }
}

TEST_F(ProfileFolder, NamesATimelineOfAnotherRankOrWorld) {
  write(two_stages());
  std::filesystem::copy_file(path() + "/rank_0.timeline",
                             path() + "/rank_1.timeline",
                             std::filesystem::copy_options::overwrite_existing);
  expect_refused(ErrorCode::kData, "rank_1.timeline");
  ASSERT_TRUE(write_timeline(path() + "/rank_1.timeline", HandMade(1, 3)));
  expect_refused(ErrorCode::kData, "rank_1.timeline");
}

TEST_F(ProfileFolder, NamesTheFolderThatCannotBeMade) {
  write_file(folder_ / "file", "");
  const Result<void> refused = write_profile(folder_ / "file/profile", two_stages());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kIo);
  EXPECT_THAT(refused.error().text,
              HasSubstr(folder_ / "file/profile" + " cannot be made: Not a directory"));
}

TEST(RankFacts, AreReadBackFromJson) {
  const RankFacts facts = two_stages().ranks.at(0);
  EXPECT_EQ(value_or_throw(parse_rank_facts(to_json(facts))), facts);
  for (const char* text : {"", "3", "{}", "{\"peak_bytes\": 3}", "{\"bytes_by_axis\": {}}"}) {
    const Result<RankFacts> refused = parse_rank_facts(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().code, ErrorCode::kData);
  }
}

TEST(TimeWords, NameTheLargestFirstAndLeaveTheSmallestOut) {
  HandMade rank(0, 1);
  rank.does(Activity::kUpdate, 0, 12)
      .does(Activity::kForward, 12, 92.7)
      .does(Activity::kLoading, 92.7, 93.1)
      .step(1, 0, 100);
  EXPECT_EQ(time_words({rank}), "compute 81 %, optimizer 12 %, idle 7 %");
}

TEST(TimeWords, AreMeansOverStepsAndRanks) {
  EXPECT_EQ(time_words(one_f_one_b()),
            "compute 60 %, bubble 31 %, optimizer 5 %, exposed pipeline 3 %, idle 1 %");
  EXPECT_EQ(time_words({HandMade(0, 1)}), "");
}

}  // namespace
}  // namespace brigade::scaling
