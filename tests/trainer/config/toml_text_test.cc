// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/toml_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade::config {
namespace {

using ::testing::HasSubstr;

TEST(TomlText, ReadsTheLinesBesideAMistake) {
  Problems problems;
  const auto table = parse_toml("[a]\nx = \ny = 1\n[a]\nz = 2\n", "f", problems);
  ASSERT_TRUE(table);
  EXPECT_EQ((*table)["a"]["y"].value<int64_t>(), 1);
  EXPECT_THAT(problems.error().text, HasSubstr("f:2:"));
  EXPECT_THAT(problems.error().text, HasSubstr("f:4:1: duplicate table [a]"));
}

}  // namespace
}  // namespace brigade::config
