// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/placement.h"

#include <functional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/check.h"

namespace brigade::zero {
namespace {

using sharding::Box;
using sharding::Interval;
using sharding::ParameterFacts;
using sharding::Shape;
using ::testing::HasSubstr;

const AxisRules kRules = {{"vocab", {"tp"}}, {"mlp", {"tp"}}};
const DataAxes kData = {{"dp_replicate"}, {"dp_shard"}};

mesh::Mesh mesh_of(int64_t replicate, int64_t shard, int64_t tp) {
  return value_or_throw(
      mesh::Mesh::create({{"dp_replicate", replicate}, {"dp_shard", shard}, {"tp", tp}}));
}

ParameterFacts facts_of(Shape shape, std::vector<std::string> axes) {
  ParameterFacts facts;
  facts.name = "layer.weight";
  facts.shape = std::move(shape);
  facts.logical_axes = std::move(axes);
  return facts;
}

/// The parameters of every kind of split: rows, columns, none; matrix, vector, scalar.
std::vector<ParameterFacts> all_kinds(int64_t rows, int64_t columns) {
  return {facts_of({rows, columns}, {"vocab", "embed"}),
          facts_of({rows, columns}, {"embed", "mlp"}),
          facts_of({rows, columns}, {"embed", "embed"}),
          facts_of({rows}, {"mlp"}),
          facts_of({rows}, {"norm"}),
          facts_of({}, {})};
}

void expect_members_share_the_used_box(const ParameterFacts& facts, const mesh::Mesh& mesh) {
  const Placement placement = value_or_throw(place(mesh, facts, kRules, kData));
  for (int64_t rank = 0; rank < mesh.size(); ++rank) {
    const Shape local = placement.used.local_shape(facts.shape, rank);
    int64_t end = 0;
    for (const int64_t other : mesh.group(rank, kData.shard)) {
      const int64_t member = mesh.flattened_index(other, kData.shard);
      const Interval rows = placement.shard_rows(facts.shape, rank, member);
      EXPECT_EQ(rows.begin, end);
      end = rows.end;
      if (!facts.shape.empty()) {
        const Interval used = placement.used.box(facts.shape, rank).dims[0];
        const Interval shard = placement.shard.box(facts.shape, other).dims[0];
        EXPECT_EQ(rows, (Interval{shard.begin - used.begin, shard.end - used.begin}));
      }
    }
    EXPECT_EQ(end, local.empty() ? 1 : local[0]);
  }
}

/// How often each element is in a counted shard.
std::vector<int64_t> times_counted(const ParameterFacts& facts, const mesh::Mesh& mesh) {
  const Placement placement = value_or_throw(place(mesh, facts, kRules, kData));
  std::vector<int64_t> times(static_cast<size_t>(sharding::element_count(facts.shape)));
  for (int64_t rank = 0; rank < mesh.size(); ++rank) {
    if (!placement.is_first_copy(rank)) {
      continue;
    }
    const Interval rows =
        placement.shard_rows(facts.shape, rank, mesh.flattened_index(rank, kData.shard));
    Box box = placement.used.box(facts.shape, rank);
    if (!box.dims.empty()) {
      box.dims[0] = {box.dims[0].begin + rows.begin, box.dims[0].begin + rows.end};
    }
    const Interval outer = box.dims.empty() ? rows : box.dims[0];
    const Interval inner = box.dims.size() < 2 ? Interval{0, 1} : box.dims[1];
    const int64_t width = facts.shape.size() < 2 ? 1 : facts.shape[1];
    for (int64_t row = outer.begin; row < outer.end; ++row) {
      for (int64_t column = inner.begin; column < inner.end; ++column) {
        ++times[static_cast<size_t>(row * width + column)];
      }
    }
  }
  return times;
}

void for_all_small_cases(
    const std::function<void(const ParameterFacts& facts, const mesh::Mesh& mesh)>& check) {
  for (const int64_t replicate : {1, 2}) {
    for (const int64_t shard : {1, 2, 3, 4}) {
      for (const int64_t tp : {1, 2, 3}) {
        const mesh::Mesh mesh = mesh_of(replicate, shard, tp);
        for (int64_t rows = 0; rows < 14; ++rows) {
          for (const ParameterFacts& facts : all_kinds(rows, 5)) {
            SCOPED_TRACE(mesh.to_string() + ", " + std::to_string(rows) + " rows, " +
                         std::to_string(facts.shape.size()) + " dims");
            check(facts, mesh);
          }
        }
      }
    }
  }
}

TEST(Placement, GivesShardMembersConsecutiveRowsThatFillTheUsedBox) {
  for_all_small_cases(expect_members_share_the_used_box);
}

TEST(Placement, CountsEachElementOnceOverAllRanks) {
  for_all_small_cases([](const ParameterFacts& facts, const mesh::Mesh& mesh) {
    EXPECT_THAT(times_counted(facts, mesh), ::testing::Each(1));
  });
}

TEST(Placement, ReducesWeightsOverAllDataAxes) {
  const Placement placement =
      value_or_throw(place(mesh_of(2, 2, 2), facts_of({8, 4}, {"vocab", "embed"}), kRules, kData));
  EXPECT_EQ(placement.used.spec,
            sharding::PartitionSpec({{"tp"}, {}}).with_reduced({"dp_replicate", "dp_shard"}));
  EXPECT_EQ(placement.shard.spec,
            sharding::PartitionSpec({{"tp", "dp_shard"}, {}}).with_reduced({"dp_replicate"}));
}

TEST(Placement, SumsGradientsOverReplicasAndOverAxesOfUseByParts) {
  const AxisRules parts = {{"norm", {"tp"}}};
  const auto placed = [&](const mesh::Mesh& mesh, const char* axis) {
    return value_or_throw(place(mesh, facts_of({8}, {axis}), kRules, kData, parts));
  };
  const Placement norm = placed(mesh_of(2, 2, 3), "norm");
  EXPECT_EQ(norm.used.spec,
            sharding::PartitionSpec().with_reduced({"dp_replicate", "dp_shard", "tp"}));
  EXPECT_EQ(norm.sum_axes, (mesh::AxisNames{"dp_replicate", "tp"}));
  EXPECT_EQ(placed(mesh_of(2, 2, 3), "embed").sum_axes, mesh::AxisNames{"dp_replicate"});
  EXPECT_EQ(placed(mesh_of(1, 2, 3), "norm").sum_axes, mesh::AxisNames{"tp"});
  EXPECT_TRUE(placed(mesh_of(1, 2, 1), "norm").sum_axes.empty());
}

TEST(Placement, CountsAParameterUsedByPartsOnce) {
  const mesh::Mesh mesh = mesh_of(2, 2, 3);
  const Placement norm =
      value_or_throw(place(mesh, facts_of({8}, {"norm"}), kRules, kData, {{"norm", {"tp"}}}));
  int64_t counted = 0;
  for (int64_t rank = 0; rank < mesh.size(); ++rank) {
    counted += norm.is_first_copy(rank) ? 1 : 0;
  }
  EXPECT_EQ(counted, 2);  // one for each of the two shards
}

TEST(Placement, RefusesToUseByPartsOverAnAxisThatSplits) {
  const auto placed =
      place(mesh_of(1, 2, 2), facts_of({8}, {"mlp"}), kRules, kData, {{"mlp", {"tp"}}});
  ASSERT_FALSE(placed);
  EXPECT_EQ(placed.error().code, ErrorCode::kUsage);
  EXPECT_THAT(placed.error().text, HasSubstr("\"tp\" shares out data or tokens"));
  EXPECT_THAT(placed.error().text, HasSubstr("dim 0 (mlp)"));
}

TEST(Placement, RefusesAnAxisThatWouldSplitTwoDims) {
  const auto placed = place(mesh_of(1, 2, 2), facts_of({8, 4}, {"vocab", "mlp"}), kRules, kData);
  ASSERT_FALSE(placed);
  EXPECT_EQ(placed.error().code, ErrorCode::kUsage);
  EXPECT_THAT(placed.error().text, HasSubstr("layer.weight"));
  EXPECT_THAT(placed.error().text, HasSubstr("\"tp\""));
  EXPECT_THAT(placed.error().text, HasSubstr("dim 0 (vocab) and dim 1 (mlp)"));
}

TEST(Placement, RefusesADataAxisThatSplitsADim) {
  const auto placed = place(
      mesh_of(1, 2, 2), facts_of({8, 4}, {"vocab", "embed"}), {{"embed", {"dp_shard"}}}, kData);
  ASSERT_FALSE(placed);
  EXPECT_EQ(placed.error().code, ErrorCode::kUsage);
  EXPECT_THAT(placed.error().text, HasSubstr("dim 1 (embed)"));
}

TEST(Placement, RefusesADataAxisListedTwice) {
  const auto placed =
      place(mesh_of(1, 2, 2), facts_of({8}, {"norm"}), kRules, {{"dp_shard"}, {"dp_shard"}});
  ASSERT_FALSE(placed);
  EXPECT_THAT(placed.error().text, HasSubstr("\"dp_shard\" is listed twice"));
}

TEST(Placement, RefusesMoreDimsThanLogicalAxes) {
  const auto placed = place(mesh_of(1, 1, 1), facts_of({8, 4}, {"vocab"}), kRules, kData);
  ASSERT_FALSE(placed);
  EXPECT_EQ(placed.error().code, ErrorCode::kUsage);
}

TEST(Placement, NamesTheParameterWhoseAxisTheMeshLacks) {
  const auto placed =
      place(mesh_of(1, 1, 1), facts_of({8, 4}, {"vocab", "embed"}), {{"vocab", {"expert"}}}, kData);
  ASSERT_FALSE(placed);
  EXPECT_THAT(placed.error().text, HasSubstr("layer.weight"));
  EXPECT_THAT(placed.error().text, HasSubstr("expert"));
}

TEST(Placement, ChecksTheMember) {
  const Placement placement =
      value_or_throw(place(mesh_of(1, 2, 1), facts_of({8}, {"norm"}), kRules, kData));
  EXPECT_THROW(placement.shard_rows({8}, 0, 2), CheckFailure);
}

}  // namespace
}  // namespace brigade::zero
