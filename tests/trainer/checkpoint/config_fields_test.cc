// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/config_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ConfigFieldsTest : public ::testing::Test {
 protected:
  ConfigFields of(const char* text) {
    json_ = nlohmann::json::parse(text);
    problems_.clear();
    return {json_, "in.", problems_};
  }

  nlohmann::json json_;
  std::vector<std::string> problems_;
};

TEST_F(ConfigFieldsTest, GivesWhatIsThereAndElseTheDefault) {
  ConfigFields fields = of(R"({"n": 3, "x": 1e-5, "t": true, "s": "word", "none": null})");
  EXPECT_EQ(fields.size("n"), 3);
  EXPECT_EQ(fields.size("none", 7), 7);
  EXPECT_EQ(fields.number("x", 1.0), 1e-5);
  EXPECT_EQ(fields.number("n", 1.0), 3.0);
  EXPECT_TRUE(fields.truth("t", false));
  EXPECT_TRUE(fields.truth("none", true));
  EXPECT_EQ(fields.text("s", "other"), "word");
  EXPECT_FALSE(fields.has("none"));
  EXPECT_THAT(problems_, IsEmpty());
}

TEST_F(ConfigFieldsTest, NotesEveryValueOfAnotherType) {
  ConfigFields fields = of(R"({"n": -3, "x": "y", "t": 1, "s": []})");
  fields.size("n");
  fields.size("m");
  fields.number("x", 1.0);
  fields.truth("t", false);
  fields.text("s", "other");
  EXPECT_THAT(problems_,
              ElementsAre("in.n: found -3, accepted is a whole number of at least 1",
                          "in.m: found nothing, accepted is a whole number of at least 1",
                          "in.x: found \"y\", accepted is a number",
                          "in.t: found 1, accepted is true or false",
                          "in.s: found [], accepted is a text"));
}

TEST_F(ConfigFieldsTest, RefusesSizesThatNobodyHas) {
  for (const char* text : {R"({"n": 0})", R"({"n": 1.5})", R"({"n": 18446744073709551615})"}) {
    of(text).size("n");
    EXPECT_EQ(problems_.size(), 1U) << text;
  }
}

TEST_F(ConfigFieldsTest, DemandsValues) {
  ConfigFields fields = of(R"({"act": "gelu", "window": 5})");
  fields.demand("act", fields.text("act", ""), std::string("silu"), ": the gate");
  fields.demand("more", false, false, "");
  fields.demand_none("window", "");
  fields.demand_none("other", "");
  EXPECT_THAT(problems_,
              ElementsAre("in.act: found \"gelu\", accepted is \"silu\": the gate",
                          "in.window: found 5, accepted is null"));
}

}  // namespace
}  // namespace brigade::checkpoint
