// SPDX-License-Identifier: Apache-2.0
// R044, R046: a disk that is full, fails or may not be written costs at most what was being saved.
#include <cerrno>
#include <filesystem>

#include <gmock/gmock.h>

#include "tests/end_to_end/checkpoint_process.h"

namespace brigade::end_to_end {
namespace {

using ::testing::ContainsRegex;
using testing::DiskRule;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Settings kAsync = {"parallelism.data_parallel_shard_degree=2", "checkpoint.async_mode=async"};

class CheckpointDisk : public CheckpointProcessTest {
 protected:
  /// Step 2 cannot be saved: all ranks end, and step 1 is as it was.
  void expect_refused(const DiskRule& rule, const Settings& settings, const std::string& words) {
    std::filesystem::remove_all(run_folder());
    EXPECT_EQ(train_with({rule}, saving(settings, 6)), 1);
    EXPECT_THAT(last_line(console_), HasSubstr(words));
    EXPECT_EQ(count_of("brigade: ", console_), 1);
    EXPECT_THAT(whole_steps(), ElementsAre(1));
    expect_no_leftovers();
  }

  /// The same, and a run on a good disk goes on.
  void expect_lost_nothing(const DiskRule& rule,
                           const Settings& settings,
                           const std::string& words) {
    expect_refused(rule, settings, words);
    EXPECT_EQ(train(saving(settings, 3)), 0);
    expect_went_on_from(1);
    EXPECT_THAT(whole_steps(), ElementsAre(3, 2, 1));
  }
};

TEST_F(CheckpointDisk, R044SaysBeforeTheFirstByteWhatIsNeededAndFree) {
  const std::string log = folder_ + "/log";
  const DiskRule full = {.calls = "space", .path = "checkpoint", .from = 2, .free_bytes = 100'000};
  const DiskRule watched = {.calls = "create|mkdir", .path = "step-2", .log = log};
  EXPECT_EQ(train_with({full, watched}, saving(kDp2, 4)), 1);
  EXPECT_THAT(last_line(console_),
              ContainsRegex("checkpoint of step 2.* needs [0-9]+ bytes.*[0-9]+ are free"));
  EXPECT_THAT(testing::logged_calls(log), IsEmpty());
  EXPECT_THAT(whole_steps(), ElementsAre(1));
  expect_no_leftovers();
}

TEST_F(CheckpointDisk, R044AFullDiskLosesNothing) {
  const DiskRule rule = {
      .calls = "write", .path = ".step-2.saving/rank-00001", .error = ENOSPC, .fits_bytes = 5000};
  expect_lost_nothing(rule, kDp2, "No space left on device");
  EXPECT_THAT(text_of(folder_ + "/console_0"), HasSubstr("rank 1 of 2"));
  expect_lost_nothing(rule, kAsync, "No space left on device");
}

TEST_F(CheckpointDisk, R046NoMixIsLeftWhicheverFileFails) {
  for (const std::string file : {"rank-00000", "rank-00001", "manifest"}) {
    for (const std::string call : {"create", "write", "sync"}) {
      SCOPED_TRACE(call + ' ' + file);
      expect_refused({.calls = call, .path = ".step-2.saving/" + file, .error = EIO}, kDp2, file);
    }
  }
}

TEST_F(CheckpointDisk, R046AFolderThatCannotBeMadeOrPublishedLosesNothing) {
  for (const Settings& settings : {kDp2, kAsync}) {
    expect_lost_nothing(
        {.calls = "mkdir", .path = ".step-2.saving", .error = ENOSPC}, settings, "step-2");
    expect_lost_nothing(
        {.calls = "rename", .path = ".step-2.saving -> ", .error = EIO}, settings, "step-2");
  }
}

TEST_F(CheckpointDisk, R046ACheckpointThatIsReplacedIsTheOldOneOrTheNewOne) {
  ASSERT_EQ(train(saving(kDp2, 3)), 0);
  const std::string old_run = manifest(3).run;
  const std::string old_time = text_of(checkpoint(3) + "/manifest.json");
  Settings again = saving(kDp2, 3);
  again.emplace_back("checkpoint.load_step=2");
  for (const std::string file : {"/rank-00000", "/rank-00001", "/manifest", " -> "}) {
    const std::string calls = file == " -> " ? "rename" : "write";
    EXPECT_EQ(train_with({{.calls = calls, .path = ".step-3.saving" + file, .error = EIO}}, again),
              1);
    EXPECT_THAT(whole_steps(), ElementsAre(3, 2, 1));
    EXPECT_EQ(text_of(checkpoint(3) + "/manifest.json"), old_time) << file;
  }
  EXPECT_EQ(train(again), 0);
  EXPECT_THAT(whole_steps(), ElementsAre(3, 2, 1));
  EXPECT_NE(text_of(checkpoint(3) + "/manifest.json"), old_time);
  expect_no_leftovers();
}

TEST_F(CheckpointDisk, AFolderThatMayNotBeWrittenIsRefusedBeforeTheFirstStep) {
  EXPECT_EQ(
      train_with({{.calls = "mkdir", .path = "/checkpoint", .error = EROFS}}, saving(kDp2, 2)), 1);
  EXPECT_THAT(last_line(console_), HasSubstr(folder()));
  EXPECT_THAT(last_line(console_), HasSubstr("Read-only file system"));
  EXPECT_THAT(records(), IsEmpty());
  std::filesystem::create_directories(folder());
  EXPECT_EQ(
      train_with({{.calls = "create", .path = "/checkpoint", .error = EROFS}}, saving(kDp2, 2)), 1);
  EXPECT_THAT(last_line(console_), HasSubstr(folder()));
  EXPECT_THAT(records(), IsEmpty());
}

TEST_F(CheckpointDisk, R042AnOldOneThatCannotBeRemovedIsARemark) {
  Settings settings = saving(kDp2, 3);
  settings.emplace_back("checkpoint.keep_latest_k=1");
  for (const std::string path : {"/step-1 -> ", "/.step-1.purging"}) {
    std::filesystem::remove_all(run_folder());
    EXPECT_EQ(train_with({{.calls = "rename|remove", .path = path, .error = EIO}}, settings), 0);
    EXPECT_THAT(console_, HasSubstr("the checkpoint of step 1 was not removed: "));
    EXPECT_THAT(console_, HasSubstr("Input/output error"));
    ASSERT_THAT(whole_steps(), ::testing::Not(IsEmpty()));
    EXPECT_EQ(whole_steps().front(), 3);
  }
}

}  // namespace
}  // namespace brigade::end_to_end
