// SPDX-License-Identifier: Apache-2.0
#include "tools/scale/scale.h"

#include <filesystem>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/scale/hand_made_study.h"
#include "trainer/launch/exit_code.h"

namespace brigade::scale {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

struct Said {
  int code = 0;
  std::string out;
  std::string err;
};

Said run(const std::vector<std::string>& arguments) {
  std::vector<std::string> line = {"brigade", "scale"};
  line.insert(line.end(), arguments.begin(), arguments.end());
  std::ostringstream out;
  std::ostringstream err;
  const int code = scale(line, out, err);
  return {code, out.str(), err.str()};
}

/// Results of all runs, so that none is left to be started.
void finish_all(const HandMadeStudy& made, const study::RunResult& result) {
  const study::Store store = made.store();
  for (size_t point = 0; point < made.grid().points.size(); ++point) {
    for (int64_t repeat = 0; repeat < made.study().repeats; ++repeat) {
      made.finish(store, point, repeat, result);
      ASSERT_TRUE(store.result(made.grid().points[point].point.id, repeat));
    }
  }
}

TEST(Scale, ShowsItsFlags) {
  const Said said = run({"--help"});
  EXPECT_EQ(said.code, launch::kExitDone);
  EXPECT_THAT(said.out, HasSubstr("usage: brigade scale --config=FILE"));
  EXPECT_THAT(said.err, IsEmpty());
}

TEST(Scale, RefusesWrongUsage) {
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{}, {"study.toml"}, {"--lst"}}) {
    const Said said = run(wrong);
    EXPECT_EQ(said.code, launch::kExitUsage);
    EXPECT_THAT(said.err, StartsWith("brigade: "));
    EXPECT_THAT(said.out, IsEmpty());
  }
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(scale({"brigade"}, out, err), launch::kExitUsage);
}

TEST(Scale, NamesAStudyThatIsWrongWithItsLine) {
  const TemporaryFolder folder;
  const std::string path = folder / "s.toml";
  write_file(path, "[study]\nname = \"s\"\nbase = \"b.toml\"\nrepeeats = 2\n[grid]\n");
  const Said said = run({"--config=" + path});
  EXPECT_EQ(said.code, launch::kExitUsage);
  EXPECT_THAT(said.err,
              AllOf(HasSubstr(path + ":4:1: unknown key `repeeats`"), HasSubstr("`repeats`")));
}

TEST(Scale, NamesAStudyOrABaseThatIsNotThere) {
  Said said = run({"--config=/no/such/study.toml"});
  EXPECT_EQ(said.code, launch::kExitUsage) << "as `brigade train` says it of a recipe";
  EXPECT_THAT(said.err, HasSubstr("/no/such/study.toml"));
  const TemporaryFolder folder;
  write_file(folder / "s.toml", "[study]\nname = \"s\"\nbase = \"absent.toml\"\n[grid]\n");
  said = run({"--config=" + folder / "s.toml"});
  EXPECT_EQ(said.code, launch::kExitUsage);
  EXPECT_THAT(said.err, HasSubstr(folder / "absent.toml"));
}

TEST(Scale, ListsWhatItWouldRunAndRunsNothing) {
  const HandMadeStudy made;
  const Said said = run({"--config=" + made.path(), "--list"});
  EXPECT_EQ(said.code, launch::kExitDone) << said.err;
  for (const study::PlannedPoint& planned : made.grid().points) {
    EXPECT_THAT(said.out, HasSubstr(planned.point.id));
  }
  EXPECT_THAT(said.err, IsEmpty());
  EXPECT_FALSE(fs::exists(made.output()));
}

TEST(Scale, WritesThePageAndTheNumbersOfWhatWasMeasuredBefore) {
  const HandMadeStudy made;
  finish_all(made, {.step_ms = {10, 12}, .seconds = 1});
  const Said said = run({"--config=" + made.path()});
  EXPECT_EQ(said.code, launch::kExitDone) << said.err;
  for (const char* file : {"scale.html", "scale.json", "scale.csv"}) {
    EXPECT_THAT(said.out, HasSubstr(made.output() + "/" + file));
    EXPECT_GT(fs::file_size(made.output() + "/" + file), 100U) << file;
  }
  EXPECT_THAT(contents(made.output() + "/scale.csv"),
              HasSubstr(made.grid().points.front().point.id));
}

TEST(Scale, FailsWhenEveryPointDidButWritesThePage) {
  const HandMadeStudy made;
  finish_all(made, {.failure = "failed with exit code 9"});
  const Said said = run({"--config=" + made.path()});
  EXPECT_EQ(said.code, launch::kExitFailed);
  EXPECT_THAT(said.err, HasSubstr("no point of study made could be measured"));
  EXPECT_THAT(said.out,
              HasSubstr(made.grid().points.back().point.id + ": failed with exit code 9"));
  EXPECT_TRUE(fs::exists(made.output() + "/scale.html"));
}

TEST(Scale, RefusesAFolderOfAnotherStudy) {
  const HandMadeStudy made;
  fs::create_directories(made.output());
  write_file(made.output() + "/notes.txt", "mine");
  const Said said = run({"--config=" + made.path()});
  EXPECT_EQ(said.code, launch::kExitUsage);
  EXPECT_THAT(said.err, HasSubstr("notes.txt"));
  EXPECT_EQ(contents(made.output() + "/notes.txt"), "mine");
}

}  // namespace
}  // namespace brigade::scale
