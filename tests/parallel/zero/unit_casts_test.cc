// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/unit_casts.h"

#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/parallel/zero/data_ranks.h"

namespace brigade::zero {
namespace {

using sharding::CastKind;
using tensor::LedgerEntry;
using tensor::Pass;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Elements of the two units of model_facts().
constexpr int64_t kEmbeddingBytes = 33 * 4;
constexpr int64_t kBlockBytes = (35 + 5 + 35 + 1) * 4;

std::vector<LedgerEntry> reduce_and_gather(tensor::Program& program,
                                           const std::unique_ptr<ParameterSet>& set) {
  set->initialize(1);
  run_microbatches(program, *set, 1);
  value_or_throw(set->reduce());
  value_or_throw(set->gather());
  return program.ledger().entries();
}

std::vector<LedgerEntry> reduce_and_gather(tensor::Program& program, int stage) {
  return reduce_and_gather(program, make_set(program, stage));
}

LedgerEntry entry(CastKind kind, const char* axis, int64_t bytes, const char* reason) {
  return {kind, {axis}, bytes, Pass::kStep, reason, "unit"};
}

TEST(UnitCasts, MoveEachUnitOnceToShardsAndBack) {
  on_layout({.shard = 3}, [](tensor::Program& program) {
    EXPECT_THAT(
        reduce_and_gather(program, 1),
        ElementsAre(
            entry(CastKind::kReduceScatter,
                  "dp_shard",
                  2 * kEmbeddingBytes,
                  "unit embedding: gradients"),
            entry(CastKind::kReduceScatter, "dp_shard", 2 * kBlockBytes, "unit block.0: gradients"),
            entry(CastKind::kGatherReduced,
                  "dp_shard",
                  2 * kEmbeddingBytes,
                  "unit embedding: weights"),
            entry(CastKind::kGatherReduced, "dp_shard", 2 * kBlockBytes, "unit block.0: weights")));
  });
}

TEST(UnitCasts, GatherGradientsInsteadOfWeightsAtStageZero) {
  on_layout({.shard = 2}, [](tensor::Program& program) {
    EXPECT_THAT(
        reduce_and_gather(program, 0),
        ElementsAre(
            entry(
                CastKind::kReduceScatter, "dp_shard", kEmbeddingBytes, "unit embedding: gradients"),
            entry(CastKind::kGather, "dp_shard", kEmbeddingBytes, "unit embedding: gradients"),
            entry(CastKind::kReduceScatter, "dp_shard", kBlockBytes, "unit block.0: gradients"),
            entry(CastKind::kGather, "dp_shard", kBlockBytes, "unit block.0: gradients")));
  });
}

TEST(UnitCasts, AllReduceOverReplicasWhatTheyShare) {
  on_layout({.replicate = 2}, [](tensor::Program& program) {
    EXPECT_THAT(
        reduce_and_gather(program, 1),
        ElementsAre(
            entry(CastKind::kAllReduce,
                  "dp_replicate",
                  2 * kEmbeddingBytes,
                  "unit embedding: gradients"),
            entry(
                CastKind::kAllReduce, "dp_replicate", 2 * kBlockBytes, "unit block.0: gradients")));
  });
}

TEST(UnitCasts, SumOverTensorRanksWhatTheyUseByParts) {
  constexpr int64_t kNormBytes = 5 * 4;
  on_layout({.tp = 2}, [](tensor::Program& program) {
    for (const int stage : {0, 1}) {
      program.ledger().clear();
      EXPECT_THAT(reduce_and_gather(program, make_set_with_parts(program, stage)),
                  ElementsAre(entry(
                      CastKind::kAllReduce, "tp", 2 * kNormBytes, "unit block.0: gradients")));
    }
  });
}

TEST(UnitCasts, JoinPartsAndReplicasInOneSum) {
  on_layout({.replicate = 2, .tp = 2}, [](tensor::Program& program) {
    std::vector<mesh::AxisNames> axes;
    for (const LedgerEntry& entry : reduce_and_gather(program, make_set_with_parts(program, 0))) {
      EXPECT_EQ(entry.cast, CastKind::kAllReduce);
      axes.push_back(entry.axes);
    }
    EXPECT_THAT(axes,
                ElementsAre(mesh::AxisNames{"dp_replicate"},
                            mesh::AxisNames{"dp_replicate"},
                            mesh::AxisNames{"dp_replicate", "tp"}));
  });
}

TEST(UnitCasts, MoveNothingInGroupsOfOne) {
  on_layout({}, [](tensor::Program& program) {
    EXPECT_THAT(reduce_and_gather(program, 0), IsEmpty());
    EXPECT_THAT(reduce_and_gather(program, 1), IsEmpty());
  });
}

TEST(UnitCasts, SendWhatTheLedgerSays) {
  on_layout({.shard = 4}, [](tensor::Program& program) {
    const int64_t ledgered = [&] {
      reduce_and_gather(program, 1);
      return program.ledger().bytes();
    }();
    collective::Communicator& group = program.group({"dp_shard"});
    std::vector<int64_t> sent = {group.bytes_sent()};
    value_or_throw(group
                       .all_reduce({collective::bytes_of(std::span<int64_t>(sent))},
                                   DType::kInt64,
                                   collective::ReduceOp::kSum)
                       .wait());
    EXPECT_EQ(sent[0], ledgered);
  });
}

}  // namespace
}  // namespace brigade::zero
