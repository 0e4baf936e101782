// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade::study {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kSmall[] = "[study]\nname = \"s\"\nbase = \"../bench/tiny.toml\"\n";

std::string wrong(const std::string& text) {
  const Result<Study> study = read_study(text, "f/s.toml");
  EXPECT_FALSE(study);
  return study ? "" : study.error().text;
}

TEST(Study, WhatIsLeftOutHasADefault) {
  const Result<Study> study =
      read_study(std::string(kSmall) + "[grid]\n", "configs/studies/s.toml");
  ASSERT_TRUE(study) << study.error().text;
  EXPECT_EQ(study->base, "configs/bench/tiny.toml");
  EXPECT_EQ(study->output_folder, "./outputs/scale_s");
  EXPECT_EQ(study->scaling, scaling::Scaling::kStrong);
  EXPECT_THAT(study->grid.ranks, ElementsAre(1));
  EXPECT_EQ(study->grid.meshes.at(1).at(0).text, "dp");
}

TEST(Study, EveryKeyIsRead) {
  const Result<Study> study = read_study(R"([study]
name = "all"
base = "b.toml"
scaling = "memory_constrained"
output_folder = "o"
repeats = 7
steps = 20
warmup_steps = 5
seed = 3
oversubscribe = true
timeout_seconds = 60
memory_per_rank = "1.5 GiB"
settings = ["training.seq_len=64"]
[grid]
ranks = [2, 1]
threads = [1, 2]
mesh = ["dp", "pp"]
zero_stage = [0, 1]
schedule = ["1F1B", "GPipe"]
microbatch_size = 2
model_flavor = ["tiny", "small"]
[[peer]]
name = "ddp"
command = "run {ranks}"
series = "dp"
)",
                                         "s.toml");
  ASSERT_TRUE(study) << study.error().text;
  EXPECT_EQ(study->memory_per_rank, 3LL << 29);
  EXPECT_EQ(study->repeats, 7);
  EXPECT_EQ(study->timeout_seconds, 60);
  EXPECT_THAT(study->grid.ranks, ElementsAre(1, 2));
  EXPECT_EQ(study->grid.meshes.at(2).at(1).degrees.pp, 2);
  EXPECT_THAT(study->grid.microbatch_sizes, ElementsAre(2));
  ASSERT_EQ(study->peers.size(), 1U);
  EXPECT_THAT(study->peers[0].series, ElementsAre("dp"));
}

TEST(Study, AllProblemsAreSaidAtOnceWithTheirLines) {
  const std::string text = wrong(R"([study]
name = "a b"
scalling = "weak"
steps = 0
repeats = "3"
[grid]
ranks = [1, 1, -2]
mash = ["dp"]
[[peer]]
name = "p"
command = "x {rank}"
colour = 1
[studdy]
)");
  EXPECT_THAT(
      text,
      AllOf(HasSubstr("f/s.toml:2:1: a name is made of letters"),
            HasSubstr("f/s.toml:3:1: unknown key `scalling` in [study]; the nearest is `scaling`"),
            HasSubstr("f/s.toml:4:9: study.steps expects an integer (at least 1 and at most "
                      "1000000), found the "
                      "integer 0"),
            HasSubstr("f/s.toml:5:11: study.repeats expects an integer (at least 1 and at most "
                      "1000000), found the "
                      "string \"3\""),
            HasSubstr("a key is missing: base"),
            HasSubstr("f/s.toml:7:13: grid.ranks has the integer 1 twice"),
            HasSubstr(
                "f/s.toml:7:16: grid.ranks expects an integer (at least 1 and at most 1000000)")));
  EXPECT_THAT(text,
              AllOf(HasSubstr("f/s.toml:8:1: unknown key `mash` in [grid]; the nearest is `mesh`"),
                    HasSubstr("f/s.toml:11:1: there is no {rank}; the nearest is {ranks}"),
                    HasSubstr("f/s.toml:12:1: unknown key `colour` in [peer], which takes name"),
                    HasSubstr("f/s.toml:13:2: unknown table [studdy]; the nearest is [study]")));
}

TEST(Study, WhatIsNoTomlIsSaidByLine) {
  EXPECT_THAT(wrong("[study]\nname = \n[grid]\nranks = [\n"), HasSubstr("f/s.toml:2:"));
  EXPECT_THAT(wrong(""), HasSubstr("f/s.toml:1:1: the table [study] is missing"));
  EXPECT_THAT(wrong("study = 3\n[grid]\n"), HasSubstr("study must be a table"));
  EXPECT_THAT(wrong(std::string(kSmall) + "[grid]\n[peer]\n"), HasSubstr("write [[peer]]"));
}

TEST(Study, AFileThatIsNotThereIsSaid) {
  EXPECT_EQ(load_study("/nowhere/s.toml").error().code, ErrorCode::kIo);
  EXPECT_THAT(load_study("/").error().text, HasSubstr("it is a folder"));
}

TEST(Study, SizesOfMemoryAreNumbersOrTexts) {
  EXPECT_EQ(*parse_bytes("2 GiB"), 2LL << 30);
  EXPECT_EQ(*parse_bytes("512MiB"), 512LL << 20);
  EXPECT_EQ(*parse_bytes("1000"), 1000);
  for (const char* text : {"", "GiB", "2 GB", "-1 GiB", "1e400", "nan", "0", "9999999 TiB"}) {
    EXPECT_FALSE(parse_bytes(text)) << text;
  }
}

}  // namespace
}  // namespace brigade::study
