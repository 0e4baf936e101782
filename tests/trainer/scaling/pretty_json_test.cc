// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/pretty_json.h"

#include <gtest/gtest.h>

namespace brigade::scaling {
namespace {

using nlohmann::ordered_json;

TEST(PrettyJson, WhatFitsALineStandsOnOne) {
  const ordered_json json = {{"a", 1}, {"b", {1.5, nullptr}}, {"c", ordered_json::object()}};
  EXPECT_EQ(pretty_json(json), "{\"a\": 1, \"b\": [1.5, null], \"c\": {}}\n");
}

TEST(PrettyJson, LongObjectsAreIndentedAndLongListsOfNumbersAreNot) {
  const ordered_json json = {{"numbers", std::vector<int>(60, 7)}, {"text", "x"}};
  const std::string text = pretty_json(json);
  EXPECT_EQ(text.substr(0, 16), "{\n  \"numbers\": [");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
  EXPECT_EQ(ordered_json::parse(text), json);
}

TEST(PrettyJson, BytesThatAreNoUtf8DoNotThrow) {
  EXPECT_EQ(pretty_json("a\xff"), "\"a\xEF\xBF\xBD\"\n");
}

}  // namespace
}  // namespace brigade::scaling
