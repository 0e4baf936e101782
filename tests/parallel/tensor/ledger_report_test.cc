// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ledger_report.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace brigade::tensor {
namespace {

using sharding::CastKind;

mesh::Mesh two_by_four() {
  return value_or_throw(mesh::Mesh::create({{"data", 2}, {"tp", 4}}));
}

Ledger sample() {
  Ledger ledger;
  const LedgerEntry product{
      CastKind::kAllReduce, {"tp"}, 3072, Pass::kForward, "einsum ab,bc->ac: because", "einsum"};
  ledger.write(product);
  ledger.write({CastKind::kGatherReduced, {"data"}, 96, Pass::kStep, "unit head: weights", "unit"});
  ledger.write(product);
  return ledger;
}

TEST(LedgerReport, SumsEqualEntriesByGroupInOrderOfFirstUse) {
  const std::vector<GroupLedger> groups = by_group(sample());
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].axes, sharding::AxisNames{"tp"});
  ASSERT_EQ(groups[0].lines.size(), 1U);
  EXPECT_EQ(groups[0].lines[0].count, 2);
  EXPECT_EQ(groups[0].bytes, 6144);
  EXPECT_EQ(groups[1].count, 1);
}

TEST(LedgerReport, NamesAReductionOtherThanASum) {
  Ledger ledger;
  ledger.write(
      {CastKind::kAllReduce, {"tp"}, 96, Pass::kForward, "max", "max", sharding::Reduction::kMax});
  EXPECT_NE(to_table(ledger, two_by_four()).find("  all_reduce max  forward"), std::string::npos);
  EXPECT_NE(to_json(ledger, two_by_four(), -1).find("\"op\":\"all_reduce max\""),
            std::string::npos);
}

TEST(LedgerReport, PrintsATable) {
  EXPECT_EQ(to_table(sample(), two_by_four()),
            "group tp (4 ranks): 2 collectives, 6.0 KiB\n"
            "  count  op              pass           bytes  source  reason\n"
            "      2  all_reduce      forward      6.0 KiB  einsum  ab,bc->ac: because\n"
            "group data (2 ranks): 1 collective, 96 B\n"
            "  count  op              pass           bytes  source  reason\n"
            "      1  all_gather      step            96 B  unit    head: weights\n");
  EXPECT_EQ(to_table(Ledger(), two_by_four()), "no collective\n");
}

TEST(LedgerReport, WritesJson) {
  const nlohmann::json all = nlohmann::json::parse(to_json(sample(), two_by_four()));
  EXPECT_EQ(all["collectives"], 3);
  EXPECT_EQ(all["bytes"], 6240);
  ASSERT_EQ(all["groups"].size(), 2U);
  EXPECT_EQ(all["groups"][0]["axes"], nlohmann::json::array({"tp"}));
  EXPECT_EQ(all["groups"][0]["ranks"], 4);
  EXPECT_EQ(all["groups"][0]["lines"][0],
            (nlohmann::json{{"op", "all_reduce"},
                            {"cast", "all_reduce"},
                            {"pass", "forward"},
                            {"count", 2},
                            {"bytes", 6144},
                            {"source", "einsum"},
                            {"reason", "einsum ab,bc->ac: because"}}));
}

}  // namespace
}  // namespace brigade::tensor
