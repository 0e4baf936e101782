// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade::checkpoint {
namespace {

using testing::HasSubstr;

/// What a rank says of a file of its own that holds one box of "w".
Manifest record(int64_t rank, sharding::Box box, sharding::Shape shape = {4, 2}) {
  Manifest part;
  const auto bytes = static_cast<uint64_t>(box.element_count()) * 4;
  part.files = {{"rank-" + std::to_string(rank), rank, 64 + bytes, 64, 7}};
  part.tensors["w"] = {ElementType::kF32, std::move(shape), {{std::move(box), 0, 64, {1}}}};
  return part;
}

TEST(EntryName, IsTheTensorsWhereTheBoxIsAllOfIt) {
  EXPECT_EQ(entry_name("w", {97, 32}, {{{0, 97}, {0, 32}}}), "w");
  EXPECT_EQ(entry_name("w", {97, 32}, {{{48, 97}, {0, 32}}}), "w[48:97,0:32]");
  EXPECT_EQ(entry_name("model.norm.weight", {32}, {{{0, 16}}}), "model.norm.weight[0:16]");
  EXPECT_EQ(entry_name("scalar", {}, {}), "scalar");
  EXPECT_EQ(entry_name("empty", {0}, {{{0, 0}}}), "empty");
}

TEST(Merge, JoinsTheRecordsOfRanks) {
  Manifest head;
  head.run = "00000000000000aa";
  const std::vector<Manifest> parts = {record(0, {{{0, 1}, {0, 2}}}),
                                       record(3, {{{1, 4}, {0, 2}}})};
  const Manifest joined = value_or_throw(merge(head, parts));
  EXPECT_EQ(joined.run, head.run);
  ASSERT_EQ(joined.files.size(), 2U);
  EXPECT_EQ(joined.files[1].rank, 3);
  const auto& boxes = joined.tensors.at("w").boxes;
  ASSERT_EQ(boxes.size(), 2U);
  EXPECT_EQ(boxes[0].file, 0U);
  EXPECT_EQ(boxes[1].file, 1U);
  EXPECT_EQ(boxes[1].box, (sharding::Box{{{1, 4}, {0, 2}}}));
}

TEST(Merge, OfNothingIsTheHead) {
  EXPECT_EQ(value_or_throw(merge(Manifest(), {})), Manifest());
}

TEST(Merge, NamesTheTensorOnWhichRanksDoNotAgree) {
  const std::vector<Manifest> shapes = {record(0, {{{0, 1}, {0, 2}}}),
                                        record(1, {{{1, 4}, {0, 2}}}, {5, 2})};
  EXPECT_EQ(merge({}, shapes).error().text,
            "ranks do not agree on tensor w: F32[4, 2] and F32[5, 2]");
  std::vector<Manifest> types = {record(0, {{{0, 1}, {0, 2}}}), record(1, {{{1, 4}, {0, 2}}})};
  types[1].tensors["w"].type = ElementType::kBF16;
  EXPECT_EQ(merge({}, types).error().text,
            "ranks do not agree on tensor w: F32[4, 2] and BF16[4, 2]");
  types[1].block_bytes = 7;
  EXPECT_EQ(merge({}, types).error().text, "ranks do not agree on block_bytes: 262144 and 7");
}

// R032: what does not cover is refused before it is published.
TEST(Merge, R032NamesTheTensorThatIsNotCovered) {
  const std::vector<Manifest> hole = {record(0, {{{0, 1}, {0, 2}}}), record(1, {{{2, 4}, {0, 2}}})};
  EXPECT_THAT(merge({}, hole).error().text, HasSubstr("tensor w leave a hole"));
  const std::vector<Manifest> twice = {record(0, {{{0, 3}, {0, 2}}}),
                                       record(1, {{{2, 4}, {0, 2}}})};
  EXPECT_THAT(merge({}, twice).error().text, HasSubstr("tensor w overlap"));
}

}  // namespace
}  // namespace brigade::checkpoint
