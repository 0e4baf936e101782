// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/value.h"

#include <gtest/gtest.h>

namespace brigade::config {
namespace {

TEST(Value, IsWrittenAsTomlReadsIt) {
  EXPECT_EQ(toml_text(true), "true");
  EXPECT_EQ(toml_text(int64_t{-3}), "-3");
  EXPECT_EQ(toml_text(1.0), "1.0");
  EXPECT_EQ(toml_text(1e-8), "1e-08");
  EXPECT_EQ(toml_text(0.1), "0.1");
  EXPECT_EQ(toml_text(std::string("a \"b\" \\ \n")), "\"a \\\"b\\\" \\\\ \\u000A\"");
  EXPECT_EQ(toml_text(std::vector<std::string>{"a", "b"}), "[\"a\", \"b\"]");
}

TEST(Value, LosesItsQuotesWhereACommandLineNeedsNone) {
  EXPECT_EQ(plain_text(std::string("none")), "none");
  EXPECT_EQ(plain_text(std::string("two words")), "\"two words\"");
  EXPECT_EQ(plain_text(std::string()), "\"\"");
  EXPECT_EQ(plain_text(std::string("{}")), "\"{}\"");
  EXPECT_EQ(plain_text(int64_t{1}), "1");
  EXPECT_EQ(plain_text(std::vector<std::string>{"a", "b"}), "a,b");
  EXPECT_EQ(plain_text(std::vector<std::string>{"a, b"}), "[\"a, b\"]");
  EXPECT_EQ(plain_text(std::vector<std::string>{}), "[]");
}

TEST(Value, TurnsASwitchOnWhenItSaysMoreThanOne) {
  EXPECT_TRUE(is_on(true));
  EXPECT_FALSE(is_on(false));
  EXPECT_TRUE(is_on(int64_t{2}));
  EXPECT_FALSE(is_on(int64_t{1}));
  EXPECT_FALSE(is_on(std::string("none")));
  EXPECT_TRUE(is_on(std::string("full")));
  EXPECT_FALSE(is_on(std::vector<std::string>{}));
}

}  // namespace
}  // namespace brigade::config
