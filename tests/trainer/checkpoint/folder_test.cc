// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/folder.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/checkpoint/temporary_folder.h"

namespace brigade::checkpoint {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// As a save of the step leaves its staging folder.
void stage(const std::string& folder, int64_t step, const std::string& text) {
  value_or_throw(make_staging(folder, step));
  write_file(staging_path(folder, step) + "/file", text);
}

TEST(StepOf, TakesPlainNamesAlone) {
  EXPECT_EQ(step_of("step-0"), 0);
  EXPECT_EQ(step_of("step-100"), 100);
  for (const char* name : {"step-",
                           "step-01",
                           "step--1",
                           "step-+1",
                           "step-1x",
                           "step-1.saving",
                           ".step-1.saving",
                           "Step-1",
                           "step_1",
                           "step-99999999999999999999",
                           ""}) {
    EXPECT_EQ(step_of(name), std::nullopt) << name;
  }
}

TEST(ListSteps, AreTheNewestFirstByNumber) {
  const TemporaryFolder folder;
  for (const char* name : {"step-9", "step-100", "step-20", ".step-7.saving", "other"}) {
    fs::create_directory(folder / name);
  }
  EXPECT_THAT(value_or_throw(list_steps(folder.path())), ElementsAre(100, 20, 9));
  EXPECT_THAT(value_or_throw(list_steps(folder / "none")), IsEmpty());
}

TEST(Publish, MovesTheStagingFolderToItsStep) {
  const TemporaryFolder folder;
  stage(folder.path(), 5, "five");
  value_or_throw(publish(folder.path(), 5));
  EXPECT_THAT(names_in(folder.path()), ElementsAre("step-5"));
  EXPECT_EQ(contents(folder / "step-5/file"), "five");
}

// R046: the old set or the new one, never a mix.
TEST(Publish, R046ReplacesAStepThatIsThere) {
  const TemporaryFolder folder;
  stage(folder.path(), 5, "old");
  write_file(staging_path(folder.path(), 5) + "/only_old", "");
  value_or_throw(publish(folder.path(), 5));
  stage(folder.path(), 5, "new");
  value_or_throw(publish(folder.path(), 5));
  EXPECT_THAT(names_in(folder.path()), ElementsAre("step-5"));
  EXPECT_THAT(names_in(folder / "step-5"), ElementsAre("file"));
  EXPECT_EQ(contents(folder / "step-5/file"), "new");
}

TEST(Publish, NamesAStepThatCannotBe) {
  const TemporaryFolder folder;
  const Result<void> published = publish(folder.path(), 5);
  ASSERT_FALSE(published);
  EXPECT_EQ(published.error().code, ErrorCode::kIo);
  EXPECT_THAT(published.error().text, HasSubstr("step-5"));
}

TEST(Purge, RemovesOneStep) {
  const TemporaryFolder folder;
  for (const int64_t step : {5, 6}) {
    stage(folder.path(), step, "");
    value_or_throw(publish(folder.path(), step));
  }
  value_or_throw(purge(folder.path(), 5));
  EXPECT_THAT(names_in(folder.path()), ElementsAre("step-6"));
}

TEST(RemoveLeftovers, TakesNamesOfOursAlone) {
  const TemporaryFolder folder;
  for (const char* name :
       {".step-7.saving", ".step-8.purging", "step-9", ".step-x.saving", ".other.saving", "lock"}) {
    fs::create_directory(folder / name);
    write_file(folder / std::string(name) + "/file", "");
  }
  // R033: and says of each what it was.
  EXPECT_THAT(value_or_throw(remove_leftovers(folder.path())),
              UnorderedElementsAre(HasSubstr(folder / ".step-7.saving: no checkpoint"),
                                   HasSubstr(folder / ".step-8.purging: a checkpoint")));
  EXPECT_THAT(value_or_throw(remove_leftovers(folder.path())), IsEmpty());
  EXPECT_THAT(names_in(folder.path()),
              ElementsAre(".other.saving", ".step-x.saving", "lock", "step-9"));
}

TEST(MakeFolder, SaysWhatIsInTheWay) {
  const TemporaryFolder folder;
  value_or_throw(make_folder(folder / "a/b"));
  EXPECT_TRUE(fs::is_directory(folder / "a/b"));
  write_file(folder / "file", "");
  for (const char* name : {"file", "file/below"}) {
    const Result<void> made = make_folder(folder / name);
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().text, HasSubstr(folder / name));
  }
}

TEST(FreeBytes, AreKnown) {
  const TemporaryFolder folder;
  EXPECT_GT(value_or_throw(free_bytes(folder.path())), 0U);
  EXPECT_FALSE(free_bytes(folder / "none"));
}

}  // namespace
}  // namespace brigade::checkpoint
