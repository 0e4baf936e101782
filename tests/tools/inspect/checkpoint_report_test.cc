// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/checkpoint_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/inspect/saved.h"
#include "trainer/checkpoint/checkpoint.h"

namespace brigade::inspect {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

TEST(CheckpointReport, SaysWhatThereIsAndWhoWroteIt) {
  const TemporaryFolder folder;
  const std::string path = save(folder / "checkpoint", head(1000));
  const auto opened = value_or_throw(checkpoint::Checkpoint::open(path));
  const std::string text = report(path, opened->manifest());
  EXPECT_THAT(text,
              AllOf(ContainsRegex("checkpoint +/.*/checkpoint/step-1000\n"),
                    ContainsRegex("run +00000000000000aa\n"),
                    ContainsRegex("step +1,000\n"),
                    ContainsRegex("saved +2026-11-30T05:40:00Z\n"),
                    ContainsRegex("tokens +6,789,000\n"),
                    ContainsRegex("recipe hash +0123456789abcdef\n"),
                    ContainsRegex("mesh +pp 1 x dp_shard 2\n"),
                    ContainsRegex("matmul +own\n"),
                    ContainsRegex("in 2 files, 2 tensors, 3 boxes\n")));
  EXPECT_THAT(text,
              AllOf(ContainsRegex("\nrank-00001.safetensors +1 +[0-9]+\n"),
                    ContainsRegex("\nw +F32 +\\[4, 2\\] +\\[0:2,0:2\\] +0 +16\n"),
                    ContainsRegex("\n +\\[2:4,0:2\\] +1 +16\n"),
                    ContainsRegex("\nscale +F32 +\\[\\] +\\[\\] +0 +4\n")));
}

TEST(CheckpointReport, SaysIfItIsTheModelAlone) {
  checkpoint::Manifest manifest = head(5);
  EXPECT_THAT(report("p", manifest), HasSubstr("all that a run resumes from"));
  manifest.model_only = true;
  EXPECT_THAT(report("p", manifest), HasSubstr("the model alone"));
}

TEST(CheckpointReport, OfVerifyingListsTheDamage) {
  EXPECT_EQ(verify_report({}, 1234), "\nverified: 1,234 bytes read, every checksum fits\n");
  EXPECT_EQ(verify_report({"one", "two"}, 5), "\nDAMAGED: 5 bytes read\n  one\n  two\n");
}

}  // namespace
}  // namespace brigade::inspect
