// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/json_object.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade::checkpoint {
namespace {

using ::testing::HasSubstr;

std::string complaint(std::string_view text) {
  const auto json = parse_json_object(text, "a.json");
  EXPECT_FALSE(json);
  return json ? "" : json.error().text;
}

TEST(JsonObject, ReadsAnObject) {
  const auto json = parse_json_object(R"({"a": {"b": 1}, "c": {"b": 2}})", "a.json");
  ASSERT_TRUE(json);
  EXPECT_EQ((*json)["c"]["b"], 2);
}

TEST(JsonObject, RefusesAKeyThatIsThereTwice) {
  EXPECT_EQ(complaint(R"({"a": 1, "b": 2, "a": 3})"), "a.json: duplicate key \"a\"");
  EXPECT_EQ(complaint(R"({"x": {"a": 1, "a": 1}})"), "a.json: duplicate key \"a\"");
}

TEST(JsonObject, RefusesWhatIsNoObject) {
  EXPECT_EQ(complaint("[1]"), "a.json: expected an object; found array");
  EXPECT_THAT(complaint(""), HasSubstr("a.json is not JSON: "));
  EXPECT_THAT(complaint(R"({"a": )"), HasSubstr("a.json is not JSON: "));
  EXPECT_THAT(complaint("{\"a\": \"\xff\"}"), HasSubstr("a.json is not JSON: "));
}

}  // namespace
}  // namespace brigade::checkpoint
