// SPDX-License-Identifier: Apache-2.0
// R033: what was damaged after it was saved is refused by name, and the checkpoint before it loads.
#include <cerrno>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "tests/end_to_end/checkpoint_process.h"

namespace brigade::end_to_end {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

void flip_a_bit(const std::string& path, uint64_t offset) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset));
  const int byte = file.get();
  ASSERT_GE(byte, 0);
  file.seekp(static_cast<std::streamoff>(offset));
  file.put(static_cast<char>(byte ^ 4));
}

/// Has a run of dp2 with step-1 to step-3, whose newest each test damages.
class CheckpointDamage : public CheckpointProcessTest {
 protected:
  void SetUp() override {
    CheckpointProcessTest::SetUp();
    ASSERT_EQ(train(saving(kDp2, 3)), 0) << console_;
    ASSERT_THAT(whole_steps(), ::testing::ElementsAre(3, 2, 1));
  }

  std::string shard(int rank, int64_t step = 3) const {
    return checkpoint(step) + "/rank-0000" + std::to_string(rank) + ".safetensors";
  }

  /// Going on takes step 2, and says of step 3 all of `words`; asking for step 3 says them too, and
  /// loads nothing.
  void expect_refused(const std::vector<std::string>& words) {
    Settings named = saving(kDp2, 4);
    named.emplace_back("checkpoint.load_step=3");
    named.emplace_back("checkpoint.load_only=true");
    EXPECT_NE(train(named), 0);
    for (const std::string& word : words) {
      EXPECT_THAT(console_, HasSubstr(word));
    }
    EXPECT_THAT(console_, Not(HasSubstr("goes on from")));

    EXPECT_EQ(train(saving(kDp2, 4)), 0);
    expect_went_on_from(2);
    const size_t at = console_.find("skipped step-3");
    ASSERT_NE(at, std::string::npos) << console_;
    const std::string line = console_.substr(at, console_.find('\n', at) - at);
    for (const std::string& word : words) {
      EXPECT_THAT(line, HasSubstr(word));
    }
  }
};

TEST_F(CheckpointDamage, R033AShardThatLacksAByteIsNamed) {
  const uint64_t size = std::filesystem::file_size(shard(1));
  std::filesystem::resize_file(shard(1), size - 1);
  expect_refused({shard(1), std::to_string(size), std::to_string(size - 1)});
}

TEST_F(CheckpointDamage, R033AShardThatIsMissingIsNamed) {
  std::filesystem::remove(shard(0));
  expect_refused({shard(0)});
}

TEST_F(CheckpointDamage, AFlippedBitIsNamedWithFileTensorAndBox) {
  const checkpoint::Manifest saved = manifest(3);
  const auto& [name, tensor] = *saved.tensors.find("lm_head.weight");
  const checkpoint::ManifestBox& box = tensor.boxes.back();
  const std::string file = checkpoint(3) + '/' + saved.files.at(box.file).name;
  flip_a_bit(file, box.offset + 5);
  expect_refused({file, "lm_head.weight", checkpoint::to_string(box.box)});
}

TEST_F(CheckpointDamage, AFlippedBitOfAMomentIsNamedToo) {
  const checkpoint::Manifest saved = manifest(3);
  const std::string name = "optimizer.state.model.norm.weight.exp_avg_sq";
  const checkpoint::ManifestBox& box = saved.tensors.find(name)->second.boxes.front();
  const std::string file = checkpoint(3) + '/' + saved.files.at(box.file).name;
  flip_a_bit(file, box.offset);
  expect_refused({file, name, checkpoint::to_string(box.box)});
}

TEST_F(CheckpointDamage, AFlippedBitInAShardsHeaderIsNamed) {
  flip_a_bit(shard(1), 40);
  expect_refused({shard(1), "header"});
}

TEST_F(CheckpointDamage, SwappedShardsAreNamed) {
  std::filesystem::rename(shard(0), shard(0) + ".x");
  std::filesystem::rename(shard(1), shard(0));
  std::filesystem::rename(shard(0) + ".x", shard(1));
  expect_refused({checkpoint(3) + "/rank-0000"});
}

TEST_F(CheckpointDamage, AShardOfAnotherCheckpointIsNamed) {
  std::filesystem::copy_file(
      shard(1, 2), shard(1), std::filesystem::copy_options::overwrite_existing);
  expect_refused({shard(1), "tensor "});
}

TEST_F(CheckpointDamage, R033AnEmptyManifestMakesNoCheckpoint) {
  std::filesystem::resize_file(checkpoint(3) + "/manifest.json", 0);
  expect_refused({checkpoint(3) + "/manifest.json"});
}

TEST_F(CheckpointDamage, AFlippedBitInTheManifestIsFound) {
  flip_a_bit(checkpoint(3) + "/manifest.json", 200);
  expect_refused({checkpoint(3) + "/manifest.json"});
}

TEST_F(CheckpointDamage, AMissingManifestMakesNoCheckpoint) {
  std::filesystem::remove(checkpoint(3) + "/manifest.json");
  expect_refused({checkpoint(3)});
}

TEST_F(CheckpointDamage, ALinkInAShardsPlaceIsRefused) {
  std::filesystem::rename(shard(0), folder_ + "/elsewhere");
  std::filesystem::create_symlink(folder_ + "/elsewhere", shard(0));
  expect_refused({shard(0), "link"});
}

TEST_F(CheckpointDamage, WhereAllAreDamagedTheRunDoesNotBeginAnew) {
  for (const int64_t step : {1, 2, 3}) {
    std::filesystem::resize_file(shard(1, step), 100);
  }
  const std::string before = text_of(run_folder() + "/metrics.jsonl");
  EXPECT_NE(train(saving(kDp2, 4)), 0);
  EXPECT_THAT(console_,
              AllOf(HasSubstr(shard(1, 1)), HasSubstr(shard(1, 2)), HasSubstr(shard(1, 3))));
  EXPECT_EQ(text_of(run_folder() + "/metrics.jsonl"), before);
  EXPECT_EQ(steps(), (std::vector<int64_t>{3, 2, 1}));
}

// R047
TEST_F(CheckpointDamage, R047WhatOneRankCannotReadNoRankLoads) {
  EXPECT_EQ(train_with({{.calls = "open", .path = "step-3/rank-", .rank = 1, .error = EACCES}},
                       saving(kDp2, 4)),
            0);
  expect_went_on_from(2);
  EXPECT_THAT(console_, HasSubstr("skipped step-3 (rank 1)"));
  EXPECT_THAT(console_, HasSubstr(checkpoint(3) + "/rank-0000"));
}

TEST_F(CheckpointDamage, R047WhatWasAskedForAndOneRankCannotReadEndsAllByName) {
  Settings settings = saving(kDp2, 4);
  settings.emplace_back("checkpoint.load_step=3");
  EXPECT_NE(
      train_with({{.calls = "open", .path = "step-3/rank-", .rank = 1, .error = EACCES}}, settings),
      0);
  EXPECT_THAT(last_line(console_), HasSubstr("rank 1"));
  EXPECT_THAT(console_, HasSubstr(checkpoint(3) + "/rank-0000"));
  EXPECT_EQ(records().size(), 3U);
}

}  // namespace
}  // namespace brigade::end_to_end
