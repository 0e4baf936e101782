// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/table_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trainer/config/toml_text.h"

namespace brigade::study {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TableReaderTest : public ::testing::Test {
 protected:
  TableReader reader(const std::string& text) {
    table_ = *config::parse_toml(text, file_, problems_);
    return TableReader(table_, "t", file_, problems_);
  }
  std::string problems() const { return problems_.empty() ? "" : problems_.error().text; }

  std::string file_ = "f";
  toml::table table_;
  config::Problems problems_;
};

TEST_F(TableReaderTest, AValueStandsForAListOfOne) {
  TableReader read = reader("a = 3\nb = [\"x\", \"y\"]");
  std::vector<int64_t> a;
  std::vector<std::string> b;
  read.integers("a", a, 1);
  read.texts("b", b);
  read.finish();
  EXPECT_EQ(problems(), "");
  EXPECT_THAT(a, ElementsAre(3));
  EXPECT_THAT(b, ElementsAre("x", "y"));
}

TEST_F(TableReaderTest, WhatCannotBeUsedLeavesTheValueAndIsSaid) {
  TableReader read = reader("a = 0\nb = \"yes\"\nc = \"\"\nd = []\ne = [1, \"x\"]");
  int64_t a = 7;
  bool b = true;
  std::string c = "kept";
  std::vector<int64_t> list = {5};
  read.integer("a", a, 1);
  read.flag("b", b);
  read.text("c", c);
  read.integers("d", list, 1);
  read.integers("e", list, 1);
  EXPECT_EQ(a, 7);
  EXPECT_TRUE(b);
  EXPECT_EQ(c, "kept");
  EXPECT_THAT(problems(),
              HasSubstr("f:1:5: t.a expects an integer (at least 1 and at most 1000000)"));
  EXPECT_THAT(problems(), HasSubstr("f:2:5: t.b expects true or false"));
  EXPECT_THAT(problems(), HasSubstr("f:3:5: t.c expects a string, found the string \"\""));
  EXPECT_THAT(problems(), HasSubstr("f:4:1: t.d is an empty list"));
  EXPECT_THAT(problems(), HasSubstr("f:5:9: t.e expects an integer"));
}

TEST_F(TableReaderTest, AKeyNobodyAskedForIsUnknown) {
  TableReader read = reader("alpha = 1\nalpho = 2\nzzzzzz = 3");
  int64_t alpha = 0;
  read.integer("alpha", alpha, 0);
  read.finish();
  EXPECT_THAT(problems(), HasSubstr("f:2:1: unknown key `alpho` in [t]; the nearest is `alpha`"));
  EXPECT_THAT(problems(), HasSubstr("f:3:1: unknown key `zzzzzz` in [t], which takes alpha"));
}

}  // namespace
}  // namespace brigade::study
