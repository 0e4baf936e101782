// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/staged_folder.h"

#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include "tests/trainer/checkpoint/temporary_folder.h"
#include "trainer/checkpoint/output_file.h"

namespace brigade::checkpoint {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

Names names_in(const std::string& folder) {
  Names names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    names.insert(entry.path().filename());
  }
  return names;
}

TEST(StagedFolder, AppearsWhenItIsPublished) {
  const TemporaryFolder folder;
  StagedFolder staged = value_or_throw(StagedFolder::begin(folder / "deep/model/"));
  EXPECT_EQ(staged.path(), folder / "deep/.model.saving");
  value_or_throw(write_durably(staged.path() + "/a", "text"));
  EXPECT_FALSE(fs::exists(folder / "deep/model"));
  value_or_throw(staged.publish());
  EXPECT_EQ(names_in(folder / "deep"), Names{"model"});
  EXPECT_EQ(contents(folder / "deep/model/a"), "text");
}

TEST(StagedFolder, LeavesNothingWhenItIsGivenUp) {
  const TemporaryFolder folder;
  {
    const StagedFolder staged = value_or_throw(StagedFolder::begin(folder / "model"));
    value_or_throw(write_durably(staged.path() + "/a", "text"));
  }
  EXPECT_EQ(names_in(folder.path()), Names());
}

TEST(StagedFolder, RemovesWhatAnotherRunLeft) {
  const TemporaryFolder folder;
  fs::create_directories(folder / ".model.saving");
  write_file(folder / ".model.saving/left", "");
  StagedFolder staged = value_or_throw(StagedFolder::begin(folder / "model"));
  value_or_throw(staged.publish());
  EXPECT_EQ(names_in(folder / "model"), Names());
}

TEST(StagedFolder, ChangesPlacesWithAFolderOfThatName) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "model");
  write_file(folder / "model/old", "");
  {
    StagedFolder staged = value_or_throw(StagedFolder::begin(folder / "model"));
    value_or_throw(write_durably(staged.path() + "/new", ""));
    value_or_throw(staged.publish());
  }
  EXPECT_EQ(names_in(folder.path()), Names{"model"});
  EXPECT_EQ(names_in(folder / "model"), Names{"new"});
}

TEST(StagedFolder, MovesItsFilesIntoAFolderAndRemovesStaleOnes) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "model");
  for (const char* name : {"w1", "w2", "config", "tokens"}) {
    write_file(folder / (std::string("model/") + name), "old");
  }
  {
    StagedFolder staged = value_or_throw(StagedFolder::begin(folder / "model"));
    value_or_throw(write_durably(staged.path() + "/w1", "new"));
    value_or_throw(write_durably(staged.path() + "/config", "new"));
    value_or_throw(
        staged.publish_into("config", [](std::string_view name) { return name.starts_with('w'); }));
  }
  EXPECT_EQ(names_in(folder.path()), Names{"model"});
  EXPECT_EQ(names_in(folder / "model"), (Names{"w1", "config", "tokens"}));
  EXPECT_EQ(contents(folder / "model/w1"), "new");
  EXPECT_EQ(contents(folder / "model/config"), "new");
  EXPECT_EQ(contents(folder / "model/tokens"), "old");
}

TEST(StagedFolder, RefusesAPathThatNamesNoFolder) {
  for (const char* path : {"", ".", "..", "/", "a/.."}) {
    EXPECT_EQ(StagedFolder::begin(path).error().code, ErrorCode::kUsage) << path;
  }
}

TEST(StagedFolder, SaysWhereItCannotBeMade) {
  const TemporaryFolder folder;
  write_file(folder / "file", "");
  EXPECT_EQ(StagedFolder::begin(folder / "file/model").error().code, ErrorCode::kIo);
  EXPECT_EQ(write_durably(folder / "none/a", "").error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace brigade::checkpoint
