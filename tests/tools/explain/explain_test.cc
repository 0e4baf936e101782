// SPDX-License-Identifier: Apache-2.0
#include "tools/explain/explain.h"

#include <fstream>
#include <sstream>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tools/explain/step_ledger.h"

namespace brigade::explain {
namespace {

using ::testing::HasSubstr;

struct Said {
  int code;
  std::string out;
  std::string err;
};

class Explain : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = ::testing::TempDir() + "explain_" + std::to_string(getpid()) + ".toml";
    std::ofstream(path_)
        << "[model]\nname = \"llama3\"\ndim = 32\nn_layers = 2\nn_heads = 4\n"
           "n_kv_heads = 2\nffn_dim = 48\nvocab_size = 256\n"
           "[training]\ndataset = \"text\"\ndataset_path = \"nowhere.txt\"\nseq_len = 8\n"
           "global_batch_size = 4\nmicrobatch_size = 1\nsteps = 3\n"
           "[parallelism]\ndata_parallel_shard_degree = 2\n"
           "tensor_parallel_degree = 2\n";
  }
  void TearDown() override { std::remove(path_.c_str()); }

  Said say(std::vector<std::string> more) const {
    std::vector<std::string> arguments = {"brigade", "explain", "--config=" + path_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    std::ostringstream out;
    std::ostringstream err;
    const int code = explain(arguments, out, err);
    return {code, out.str(), err.str()};
  }

  std::string path_;
};

TEST_F(Explain, PrintsTheLedgerOfAStepByGroup) {
  const Said said = say({"--ledger"});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("dp_shard=2 x tp=2"));
  EXPECT_THAT(said.out, HasSubstr("group tp (2 ranks)"));
  EXPECT_THAT(said.out, HasSubstr("attention: one gradient sum for q, k and v"));
  EXPECT_THAT(said.out, HasSubstr("block.0: gradients"));
}

TEST_F(Explain, PrintsJsonPerStage) {
  const Said said = say({"--ledger",
                         "--json",
                         "parallelism.pipeline_parallel_degree=2",
                         "training.microbatch_size=1"});
  ASSERT_EQ(said.code, 0) << said.err;
  const nlohmann::json all = nlohmann::json::parse(said.out);
  ASSERT_EQ(all["stages"].size(), 2U);
  EXPECT_EQ(all["stages"][1]["first_rank"], 4);
  // Two layers of two reductions, once per microbatch; the first stage has one layer of them, and
  // the embedding's.
  const nlohmann::json& first = all["stages"][0]["ledger"];
  EXPECT_EQ(first["groups"][0]["axes"], nlohmann::json::array({"tp"}));
  int64_t forward = 0;
  for (const nlohmann::json& line : first["groups"][0]["lines"]) {
    forward += line["pass"] == "forward" ? line["count"].get<int64_t>() : 0;
  }
  EXPECT_EQ(forward, 2 * (2 + 1));
}

TEST_F(Explain, RefusesWhatItCannotExplain) {
  EXPECT_EQ(say({}).code, 2);
  EXPECT_THAT(say({}).err, HasSubstr("usage: brigade explain"));
  EXPECT_EQ(say({"--help"}).code, 0);
  const Said unknown = say({"--ledgr"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("unknown flag --ledgr"));
  const Said heads = say({"--ledger", "model.n_kv_heads=1"});
  EXPECT_NE(heads.code, 0);
  EXPECT_THAT(heads.err, HasSubstr("heads"));
}

}  // namespace
}  // namespace brigade::explain
