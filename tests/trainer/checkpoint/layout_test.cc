// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/layout.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/mesh/mesh.h"
#include "parallel/sharding/named_sharding.h"

namespace brigade::checkpoint {
namespace {

using sharding::Box;
using sharding::NamedSharding;
using sharding::PartitionSpec;
using sharding::Shape;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Box rows(int64_t begin, int64_t end) {
  return {{{begin, end}}};
}

Holding holding(std::string name, const Shape& shape, const NamedSharding& place) {
  Holding held{std::move(name), ElementType::kF32, shape, {}};
  for (int64_t rank = 0; rank < place.mesh.size(); ++rank) {
    const Box box = place.box(shape, rank);
    held.boxes.push_back(box.element_count() > 0 ? std::optional(box) : std::nullopt);
  }
  return held;
}

TEST(AssignWriters, GivesEachBoxToAHolder) {
  const std::vector<Holding> tensors = {
      {"w", ElementType::kF32, {4}, {rows(0, 2), rows(2, 4)}},
      {"elsewhere", ElementType::kF32, {3}, {std::nullopt, rows(0, 3)}},
      {"nothing", ElementType::kF32, {0}, {std::nullopt, std::nullopt}}};
  EXPECT_THAT(assign_writers(tensors, 2), ElementsAre(ElementsAre(0), ElementsAre(0, 1)));
}

TEST(AssignWriters, SharesCopiesByTheirSizes) {
  const std::vector<std::optional<Box>> everywhere(3, rows(0, 1));
  std::vector<Holding> tensors;
  for (const int64_t size : {10, 60, 30, 30, 20, 30}) {
    tensors.push_back({std::string(1, static_cast<char>('a' + tensors.size())),
                       ElementType::kF32,
                       {size},
                       std::vector<std::optional<Box>>(3, rows(0, size))});
  }
  // 60, then 30 and 30, 30 beside one of them, 20 and 10 where least is.
  EXPECT_THAT(assign_writers(tensors, 3),
              ElementsAre(ElementsAre(1), ElementsAre(2, 5), ElementsAre(0, 3, 4)));
}

TEST(AssignWriters, CountsBytesAndNotElements) {
  const std::vector<std::optional<Box>> both(2, rows(0, 10));
  const std::vector<Holding> tensors = {{"a", ElementType::kF64, {10}, both},
                                        {"b", ElementType::kBF16, {10}, both},
                                        {"c", ElementType::kBF16, {10}, both},
                                        {"d", ElementType::kBF16, {10}, both}};
  EXPECT_THAT(assign_writers(tensors, 2), ElementsAre(ElementsAre(0), ElementsAre(1, 2, 3)));
}

TEST(AssignWriters, ScalarsHaveOneWriter) {
  const std::vector<Holding> tensors = {{"s", ElementType::kF32, {}, {Box(), Box()}}};
  EXPECT_THAT(assign_writers(tensors, 2), ElementsAre(ElementsAre(0), IsEmpty()));
}

// R032: odd sizes, two axes of sharding, copies: every element is written once.
TEST(AssignWriters, R032WritesEveryElementOfEveryShardingOnce) {
  const mesh::Mesh mesh =
      value_or_throw(mesh::Mesh::create({{"replicate", 2}, {"shard", 3}, {"tp", 2}}));
  const std::vector<PartitionSpec> specs = {PartitionSpec({{}, {}}),
                                            PartitionSpec({{"tp", "shard"}, {}}),
                                            PartitionSpec({{"shard"}, {"tp"}}),
                                            PartitionSpec({{}, {"tp"}})};
  for (const int64_t size : {1, 2, 3, 5, 7, 97}) {
    for (const PartitionSpec& spec : specs) {
      const Shape shape = {size, 5};
      const std::vector<Holding> tensors = {
          holding("t", shape, value_or_throw(NamedSharding::create(mesh, spec)))};
      std::map<std::pair<int64_t, int64_t>, int> written;
      const auto writers = assign_writers(tensors, static_cast<size_t>(mesh.size()));
      for (size_t rank = 0; rank < writers.size(); ++rank) {
        for (const size_t tensor : writers[rank]) {
          const Box& box = *tensors[tensor].boxes[rank];
          for (int64_t i = box.dims[0].begin; i < box.dims[0].end; ++i) {
            for (int64_t j = box.dims[1].begin; j < box.dims[1].end; ++j) {
              written[{i, j}] += 1;
            }
          }
        }
      }
      EXPECT_EQ(written.size(), static_cast<size_t>(size) * 5);
      EXPECT_TRUE(std::all_of(
          written.begin(), written.end(), [](const auto& entry) { return entry.second == 1; }));
    }
  }
}

TEST(AssignWriters, BalancesAModelOverItsCopies) {
  std::vector<Holding> tensors;
  for (int64_t layer = 0; layer < 24; ++layer) {
    for (const int64_t size : {4096, 1024, 1024, 64, 8}) {
      tensors.push_back({std::to_string(tensors.size()),
                         ElementType::kF32,
                         {size},
                         std::vector<std::optional<Box>>(4, rows(0, size))});
    }
  }
  std::vector<uint64_t> given;
  for (const std::vector<size_t>& written : assign_writers(tensors, 4)) {
    uint64_t bytes = 0;
    for (const size_t tensor : written) {
      bytes += static_cast<uint64_t>(tensors[tensor].shape[0]);
    }
    given.push_back(bytes);
  }
  const auto [least, most] = std::minmax_element(given.begin(), given.end());
  EXPECT_LE(*most - *least, 8U);
}

}  // namespace
}  // namespace brigade::checkpoint
