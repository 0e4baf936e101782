// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/commit.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/checkpoint/sample_checkpoint.h"
#include "tests/trainer/checkpoint/temporary_folder.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/folder.h"

namespace brigade::checkpoint {
namespace {

using ::testing::HasSubstr;

TEST(Commit, PublishesWhatTheRecordsSay) {
  const TemporaryFolder folder;
  const std::string place = folder / "c";
  const SampleTensor tensor = {"t", ElementType::kF32, {7, 3}, {3, 2}};
  value_or_throw(make_folder(place));
  value_or_throw(make_staging(place, 8));
  std::vector<std::string> records;
  for (const sharding::Box& box : grid(tensor.shape, tensor.parts)) {
    const std::vector<std::byte> bytes = tensor.bytes_of(box);
    const std::vector<StateBox> boxes = {{tensor.name, tensor.type, tensor.shape, box, bytes}};
    const auto rank = static_cast<int64_t>(records.size());
    records.push_back(to_json(
        value_or_throw(write_shard(staging_path(place, 8), shard_name(rank), rank, boxes))));
  }
  value_or_throw(commit(place, sample_head(8), records, 0));
  const auto checkpoint = value_or_throw(Checkpoint::open(folder / "c/step-8"));
  EXPECT_EQ(checkpoint->manifest().files.size(), 6U);
  EXPECT_EQ(checkpoint->manifest().counters.step, 8);
  EXPECT_FALSE(std::filesystem::exists(staging_path(folder / "c", 8)));
}

TEST(Commit, OfRecordsThatDoNotFitPublishesNothing) {
  const TemporaryFolder folder;
  value_or_throw(make_staging(folder.path(), 8));
  const std::vector<float> values = {1.0F};
  const std::vector<StateBox> boxes = {
      {"t", ElementType::kF32, {2}, {{{0, 1}}}, std::as_bytes(std::span(values))}};
  const std::vector<std::string> records = {
      "",  // a rank that wrote nothing
      to_json(
          value_or_throw(write_shard(staging_path(folder.path(), 8), shard_name(1), 1, boxes)))};
  Manifest head;
  head.counters.step = 8;
  const Result<Committed> hole = commit(folder.path(), head, records, 0);
  ASSERT_FALSE(hole);
  EXPECT_THAT(hole.error().text, HasSubstr("tensor t leave a hole"));
  const std::vector<std::string> damaged = {"no record"};
  const Result<Committed> strange = commit(folder.path(), head, damaged, 0);
  ASSERT_FALSE(strange);
  EXPECT_THAT(strange.error().text, HasSubstr("the record of rank 0"));
  EXPECT_FALSE(std::filesystem::exists(step_path(folder.path(), 8)));
}

}  // namespace
}  // namespace brigade::checkpoint
