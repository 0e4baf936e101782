// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/checkpoint_list.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/inspect/saved.h"

namespace brigade::inspect {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CheckpointList : public ::testing::Test {
 protected:
  Error refusal(const std::string& path) const {
    const auto opened = open_step(path);
    return opened ? Error{ErrorCode::kInternal, "opened", -1} : opened.error();
  }

  const TemporaryFolder folder_;
  const std::string checkpoints_ = folder_ / "checkpoint";
};

TEST_F(CheckpointList, HasALineForEachStepWholeOrNot) {
  save(checkpoints_, head(5));
  const std::string cut = save(checkpoints_, head(10));
  save(checkpoints_, head(15));
  std::filesystem::resize_file(cut + "/rank-00001.safetensors", 8);
  std::filesystem::create_directory(checkpoints_ + "/.step-20.saving");
  EXPECT_THAT(steps_in(checkpoints_), ElementsAre(15, 10, 5));
  EXPECT_THAT(
      list_report(checkpoints_ + "/", steps_in(checkpoints_)),
      AllOf(ContainsRegex("\nstep-15 +00000000000000aa +2026-11-30T05:40:00Z +all +[0-9]+ +\\("),
            ContainsRegex("\nstep-5 +00000000000000aa"),
            ContainsRegex("\nstep-10 incomplete: .*rank-00001.safetensors has 8 bytes")));
}

TEST_F(CheckpointList, OfAStepFolderIsEmptyAlsoOfOneWithoutManifest) {
  const std::string step = save(checkpoints_, head(5));
  EXPECT_THAT(steps_in(step), IsEmpty());
  std::filesystem::create_directories(checkpoints_ + "/step-6/step-7");
  EXPECT_THAT(steps_in(checkpoints_ + "/step-6/"), IsEmpty());
}

TEST_F(CheckpointList, OpensAStepFolder) {
  const std::string step = save(checkpoints_, head(5));
  EXPECT_EQ(value_or_throw(open_step(step))->manifest().counters.step, 5);
  EXPECT_EQ(value_or_throw(open_step(step + "/"))->path(), step);
  std::filesystem::rename(step, folder_ / "kept");  // a copy under another name is one too
  EXPECT_EQ(value_or_throw(open_step(folder_ / "kept"))->manifest().counters.step, 5);
}

TEST_F(CheckpointList, NamesACheckpointWhereAFolderIsNone) {
  save(checkpoints_, head(5));
  save(checkpoints_, head(10));
  EXPECT_EQ(refusal(checkpoints_).code, ErrorCode::kUsage);
  EXPECT_THAT(refusal(checkpoints_).text, HasSubstr("such as " + checkpoints_ + "/step-10"));
  const Error above = refusal(folder_.path().string());
  EXPECT_EQ(above.code, ErrorCode::kUsage);
  EXPECT_THAT(above.text, HasSubstr("there are some in " + checkpoints_));
}

TEST_F(CheckpointList, SaysWhatIsMissingWhereThereIsNothing) {
  for (const std::string& path : {folder_ / "none", folder_.path().string()}) {
    EXPECT_EQ(refusal(path).code, ErrorCode::kIo);
    EXPECT_THAT(refusal(path).text, AllOf(HasSubstr(path), HasSubstr("manifest.json")));
  }
}

}  // namespace
}  // namespace brigade::inspect
