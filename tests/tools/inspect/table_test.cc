// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/table.h"

#include <gtest/gtest.h>

namespace brigade::inspect {
namespace {

TEST(Table, AlignsColumnsAndLeavesNoSpaceAtALinesEnd) {
  Table table({{"name"}, {"bytes", Align::kRight}, {"remark"}});
  EXPECT_TRUE(table.empty());
  table.add({"a", "1,234", ""});
  table.add({"longer", "5", "x"});
  EXPECT_FALSE(table.empty());
  EXPECT_EQ(table.text(),
            "name    bytes  remark\n"
            "a       1,234\n"
            "longer      5  x\n");
}

TEST(Table, HasNoTitlesWhereAllAreEmpty) {
  Table table({{""}, {""}});
  table.add({"run", "aa"});
  EXPECT_EQ(table.text(), "run  aa\n");
}

}  // namespace
}  // namespace brigade::inspect
