// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/memory_table.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace brigade::loop {
namespace {

using sharding::CastKind;
using tensor::Category;
using tensor::CategoryBytes;
using tensor::LedgerEntry;
using tensor::Pass;

CategoryBytes weights(int64_t kibibytes) {
  CategoryBytes bytes;
  bytes[Category::kParameters] = kibibytes << 10;
  bytes[Category::kActivations] = 1 << 10;
  return bytes;
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" is not in:\n" << text;
}

TEST(MemoryTable, ListsWhatIsPlannedForRanksThatDiffer) {
  const std::string text = planned_table({weights(2), weights(2), weights(3)});
  expect_part(text, "memory   planned peak      parameters   gradients   optimizer    gathered");
  expect_part(text, "activations    messages       total\n");
  expect_part(text, "ranks 0-1            2.0 KiB ");
  expect_part(text, "rank 2               3.0 KiB ");
  expect_part(text, "4.0 KiB\n");
}

TEST(MemoryTable, HoldsTheRankThatTookMostAgainstItsPlan) {
  const std::vector<MeasuredMemory> measured = {
      {weights(2), 3 << 10}, {weights(1), 5 << 10}, {weights(3), 1 << 10}};
  const std::string text = measured_table({weights(2), weights(2), weights(3)}, measured);
  expect_part(text, "ranks 0-1, measured on rank 1\n");
  expect_part(text, "  measured           1.0 KiB ");
  expect_part(text, "5.0 KiB\n");
  expect_part(text, "rank 2\n");
}

TEST(MemoryTable, JoinsWhatDiffersInTheUnitAlone) {
  const mesh::Mesh mesh = value_or_throw(mesh::Mesh::create({{"dp_shard", 4}, {"tp", 2}}));
  tensor::Ledger ledger;
  for (const char* unit : {"block.0", "block.1", "head"}) {
    ledger.write({CastKind::kReduceScatter,
                  {"dp_shard"},
                  4 << 10,
                  Pass::kStep,
                  std::string("unit ") + unit + ": gradients",
                  "unit"});
  }
  ledger.write({CastKind::kAllReduce, {"tp"}, 2 << 10, Pass::kForward, "einsum: sum", "einsum"});
  const std::string text = moved_table(ledger, mesh, 1);
  expect_part(text, "by the collectives of stage 1\n");
  expect_part(text, "      3    12.0 KiB     3.0 KiB  all over dp_shard, 4 ranks\n");
  expect_part(text, "      3    12.0 KiB     3.0 KiB    reduce_scatter, step: units' gradients\n");
  expect_part(text, "      1     2.0 KiB     1.0 KiB  all over tp, 2 ranks\n");
  expect_part(text, "      1     2.0 KiB     1.0 KiB    all_reduce, forward: einsum: sum\n");
}

TEST(MemoryTable, SaysThatNothingMoved) {
  const mesh::Mesh mesh = value_or_throw(mesh::Mesh::create({{"tp", 1}}));
  expect_part(moved_table(tensor::Ledger(), mesh, 0), "nothing: no collective\n");
}

}  // namespace
}  // namespace brigade::loop
