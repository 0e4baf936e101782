// SPDX-License-Identifier: Apache-2.0
#include "trainer/launch/rank_identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade::launch {
namespace {

using ::testing::HasSubstr;

RankIdentity identified(const Environment& environment) {
  const Result<RankIdentity> who = identify(environment);
  EXPECT_TRUE(who) << (who ? "" : who.error().text);
  return who.value_or(RankIdentity());
}

std::string complaint(const Environment& environment) {
  const Result<RankIdentity> who = identify(environment);
  EXPECT_FALSE(who);
  if (who) {
    return "";
  }
  EXPECT_EQ(who.error().code, ErrorCode::kUsage);
  return who.error().text;
}

Environment torchrun() {
  return {{"RANK", "3"},
          {"WORLD_SIZE", "8"},
          {"LOCAL_RANK", "1"},
          {"MASTER_ADDR", "10.0.0.1"},
          {"MASTER_PORT", "29500"}};
}

TEST(RankIdentity, IsNobodysWithoutALauncher) {
  const RankIdentity who = identified({{"HOME", "/root"}, {"MASTER_ADDR", "left over"}});
  EXPECT_FALSE(who.launched());
  EXPECT_EQ(who.world_size, 1);
}

TEST(RankIdentity, ReadsTorchrun) {
  const RankIdentity who = identified(torchrun());
  EXPECT_EQ(who.rank, 3);
  EXPECT_EQ(who.world_size, 8);
  EXPECT_EQ(who.local_rank, 1);
  EXPECT_EQ(who.master_address, "10.0.0.1");
  EXPECT_EQ(who.master_port, 29500);
  EXPECT_EQ(who.told_by, "RANK and WORLD_SIZE (torchrun)");
}

TEST(RankIdentity, NeedsOnlyTheFourVariables) {
  Environment four = torchrun();
  four.erase("LOCAL_RANK");
  EXPECT_EQ(identified(four).local_rank, 3);
}

TEST(RankIdentity, LeavesTorchrunsOwnPortAlone) {
  Environment agent = torchrun();
  agent["TORCHELASTIC_USE_AGENT_STORE"] = "True";
  EXPECT_EQ(identified(agent).master_port, 29501);
  agent["BRIGADE_MASTER_PORT"] = "4000";
  EXPECT_EQ(identified(agent).master_port, 4000);
}

TEST(RankIdentity, ReadsMpirunSrunAndKubernetes) {
  const Environment master = {{"MASTER_ADDR", "node0"}, {"MASTER_PORT", "29500"}};
  Environment mpi = master;
  mpi.insert({{"OMPI_COMM_WORLD_RANK", "1"},
              {"OMPI_COMM_WORLD_SIZE", "2"},
              {"OMPI_COMM_WORLD_LOCAL_RANK", "0"}});
  EXPECT_EQ(identified(mpi).source, LaunchSource::kOpenMpi);
  EXPECT_EQ(identified(mpi).local_rank, 0);

  Environment slurm = master;
  slurm.insert({{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "4"}, {"SLURM_LOCALID", "1"}});
  EXPECT_EQ(identified(slurm).world_size, 4);
  slurm["SLURM_STEP_NUM_TASKS"] = "2";
  EXPECT_EQ(identified(slurm).world_size, 2);
  EXPECT_EQ(identified(slurm).source, LaunchSource::kSlurm);

  Environment job = master;
  job.insert({{"JOB_COMPLETION_INDEX", "2"}, {"WORLD_SIZE", "3"}});
  EXPECT_EQ(identified(job).rank, 2);
  EXPECT_EQ(identified(job).source, LaunchSource::kKubernetes);
}

TEST(RankIdentity, PutsTheExplicitOverTorchrunOverMpirun) {
  Environment all = torchrun();
  all.insert({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}});
  EXPECT_EQ(identified(all).source, LaunchSource::kTorchrun);
  all.insert({{"BRIGADE_RANK", "5"}, {"BRIGADE_WORLD_SIZE", "6"}});
  EXPECT_EQ(identified(all).source, LaunchSource::kExplicit);
  EXPECT_EQ(identified(all).rank, 5);
}

TEST(RankIdentity, NamesWhatIsMissing) {
  EXPECT_EQ(complaint({{"RANK", "0"}}),
            "WORLD_SIZE is missing: RANK is set (torchrun), and both are needed");
  EXPECT_EQ(complaint({{"WORLD_SIZE", "2"}}),
            "RANK is missing: WORLD_SIZE is set (torchrun), and both are needed");
  EXPECT_THAT(
      complaint({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}}),
      HasSubstr("MASTER_PORT is missing: RANK and WORLD_SIZE (torchrun) make this rank 0 of "
                "2"));
  EXPECT_THAT(complaint({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}}),
              HasSubstr("MASTER_ADDR and MASTER_PORT are missing"));
}

TEST(RankIdentity, TakesATaskCountAloneForABatchScript) {
  EXPECT_FALSE(identified({{"SLURM_NTASKS", "4"}}).launched());
}

TEST(RankIdentity, OneRankNeedsNoAddress) {
  const RankIdentity who = identified({{"RANK", "0"}, {"WORLD_SIZE", "1"}});
  EXPECT_TRUE(who.launched());
  EXPECT_EQ(who.master_port, 0);
}

TEST(RankIdentity, RefusesNumbersThatAreNone) {
  Environment bad = torchrun();
  bad["RANK"] = "8";
  EXPECT_THAT(complaint(bad), HasSubstr("RANK must be an integer from 0 to 7, found \"8\""));
  bad = torchrun();
  bad["WORLD_SIZE"] = "two";
  EXPECT_THAT(complaint(bad), HasSubstr("WORLD_SIZE must be an integer from 1 to"));
  bad = torchrun();
  bad["MASTER_PORT"] = "70000";
  EXPECT_THAT(complaint(bad), HasSubstr("MASTER_PORT must be an integer from 1 to 65535"));
}

}  // namespace
}  // namespace brigade::launch
