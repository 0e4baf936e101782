// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/inspect.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/tools/inspect/saved.h"

namespace brigade::inspect {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class Inspect : public ::testing::Test {
 protected:
  int run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"brigade", "inspect"});
    std::ostringstream out;
    std::ostringstream err;
    const int code = inspect(arguments, out, err);
    out_ = out.str();
    err_ = err.str();
    return code;
  }

  /// One message of one line, and nothing else.
  void expect_refused(const std::vector<std::string>& arguments, int code) {
    EXPECT_EQ(run(arguments), code);
    EXPECT_THAT(out_, IsEmpty());
    EXPECT_THAT(err_, StartsWith("brigade inspect: "));
    EXPECT_EQ(std::count(err_.begin(), err_.end(), '\n'), 1) << err_;
  }

  const TemporaryFolder folder_;
  const std::string checkpoints_ = folder_ / "checkpoint";
  std::string out_;
  std::string err_;
};

TEST_F(Inspect, ReportsAndVerifiesACheckpoint) {
  const std::string step = save(checkpoints_, head(10));
  EXPECT_EQ(run({"checkpoint", step}), 0);
  EXPECT_THAT(out_, AllOf(HasSubstr("rank-00001.safetensors"), HasSubstr("[2:4,0:2]")));
  EXPECT_THAT(err_, IsEmpty());
  EXPECT_EQ(run({"checkpoint", step, "--verify"}), 0);
  EXPECT_THAT(out_, HasSubstr("every checksum fits"));
}

TEST_F(Inspect, NamesEveryDamagedHeaderAndBox) {
  const std::string step = save(checkpoints_, head(10));
  damage(step + "/rank-00000.safetensors", 1);   // the last byte is the buffer's
  damage(step + "/rank-00001.safetensors", 32);  // the buffer has 16
  EXPECT_EQ(run({"checkpoint", step}), 0);
  EXPECT_EQ(run({"checkpoint", step, "--verify"}), 1);
  EXPECT_THAT(out_,
              AllOf(HasSubstr("\nDAMAGED"),
                    ContainsRegex("rank-00000.safetensors.*tensor w, box \\[0:2,0:2\\]"),
                    ContainsRegex("rank-00001.safetensors.*header")));
  EXPECT_EQ(run({"checkpoint", step, "--verify", "--json"}), 1);
  EXPECT_EQ(nlohmann::json::parse(out_)["damage"].size(), 2U);
}

TEST_F(Inspect, ListsTheStepsOfAFolder) {
  save(checkpoints_, head(10));
  std::filesystem::remove(save(checkpoints_, head(20)) + "/manifest.json");
  EXPECT_EQ(run({"checkpoint", checkpoints_}), 0);
  EXPECT_THAT(out_, AllOf(HasSubstr("step-10  "), HasSubstr("step-20 incomplete: ")));
  expect_refused({"checkpoint", checkpoints_, "--verify"}, 2);
  EXPECT_THAT(err_, HasSubstr("step-20"));
  expect_refused({"checkpoint", checkpoints_, "--json"}, 2);
}

TEST_F(Inspect, ComparesTwoCheckpoints) {
  const std::string a = save(folder_ / "a", head(10));
  const std::string b = save(folder_ / "b", head(10));
  const std::string c = save(folder_ / "c", head(10), {1, 2, 3, 4, 5, 6, 7, 8.5});
  const std::string later = save(folder_ / "a", head(11));
  EXPECT_EQ(run({"diff", a, b}), 0);
  EXPECT_THAT(out_, HasSubstr("2 with equal bits, 0 different\ncounters: equal\nrecipes: equal"));
  EXPECT_EQ(run({"diff", a, c}), 1);
  EXPECT_THAT(out_, ContainsRegex("w +1 +0.5 +\\[3, 1\\] +8 +8.5 +differs"));
  EXPECT_THAT(err_, IsEmpty());
  EXPECT_EQ(run({"diff", a, c, "--tolerance=0.5"}), 0);
  EXPECT_EQ(run({"diff", a, later}), 1);
  EXPECT_THAT(out_, ContainsRegex("counters.step +10 +11"));
}

TEST_F(Inspect, GivesOneMessageForWhatItCannotDo) {
  const std::string step = save(checkpoints_, head(10));
  expect_refused({}, 2);
  expect_refused({"checkpoint"}, 2);
  expect_refused({"checkpoint", step, "--tolerance=1"}, 2);
  expect_refused({"checkpoint", folder_ / "none"}, 1);
  expect_refused({"checkpoint", folder_.path().string()}, 2);
  expect_refused({"diff", step, checkpoints_}, 2);
  expect_refused({"diff", folder_ / "none", step}, 1);
  const std::string damaged = save(folder_ / "b", head(10));
  damage(damaged + "/rank-00000.safetensors", 1);
  expect_refused({"diff", step, damaged}, 1);
  EXPECT_THAT(err_, HasSubstr("tensor w"));
  write_file(step + "/manifest.json", "{}");
  expect_refused({"checkpoint", step}, 1);
}

TEST_F(Inspect, HelpNamesBothCommandsAndTheExitCodes) {
  EXPECT_EQ(run({"diff", "--help"}), 0);
  EXPECT_THAT(out_, AllOf(HasSubstr("inspect checkpoint"), HasSubstr("Exit codes: 0")));
}

}  // namespace
}  // namespace brigade::inspect
