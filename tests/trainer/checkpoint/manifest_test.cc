// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade::checkpoint {
namespace {

using sharding::Box;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// One rank's record of rows of "w".
Manifest record(int64_t rank, int64_t begin, int64_t end, sharding::Shape shape = {5, 2}) {
  Manifest part;
  part.files = {{"rank-" + std::to_string(rank), rank, 0, 0, 0}};
  ManifestTensor& tensor = part.tensors["w"];
  tensor.shape = std::move(shape);
  tensor.boxes.emplace_back().box = {{{begin, end}, {0, 2}}};
  return part;
}

TEST(Manifest, JoinsTheRecordsOfRanks) {
  Manifest head;
  head.counters.step = 7;
  const std::vector<Manifest> parts = {record(0, 0, 3), record(2, 3, 5)};
  const Manifest whole = value_or_throw(merge(head, parts));
  EXPECT_EQ(whole.counters.step, 7);
  ASSERT_EQ(whole.files.size(), 2U);
  EXPECT_EQ(whole.files[1].name, "rank-2");
  ASSERT_EQ(whole.tensors.at("w").boxes.size(), 2U);
  EXPECT_EQ(whole.tensors.at("w").boxes[1].file, 1U);
}

TEST(Manifest, OfRecordsThatDoNotFitNamesTheTensor) {
  for (const Manifest& second : {record(1, 3, 5, {6, 2}), record(1, 2, 5), record(1, 4, 5)}) {
    const std::vector<Manifest> parts = {record(0, 0, 3), second};
    const Result<Manifest> whole = merge({}, parts);
    ASSERT_FALSE(whole);
    EXPECT_EQ(whole.error().code, ErrorCode::kData);
    EXPECT_THAT(whole.error().text, HasSubstr("w"));
  }
}

TEST(Manifest, CallsABoxAsItsTensorUnlessItIsAPart) {
  const Box part = {{{48, 97}, {0, 32}}};
  EXPECT_EQ(to_string(part), "[48:97,0:32]");
  EXPECT_EQ(entry_name("head", {97, 32}, part), "head[48:97,0:32]");
  EXPECT_EQ(entry_name("head", {97, 32}, {{{0, 97}, {0, 32}}}), "head");
  EXPECT_EQ(entry_name("scalar", {}, {}), "scalar");
}

}  // namespace
}  // namespace brigade::checkpoint
