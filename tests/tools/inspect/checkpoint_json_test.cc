// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/checkpoint_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/tools/inspect/saved.h"
#include "trainer/checkpoint/checkpoint.h"

namespace brigade::inspect {
namespace {

using nlohmann::json;

TEST(CheckpointJson, HasTheFactsOfTheReport) {
  const TemporaryFolder folder;
  const std::string path = save(folder / "checkpoint", head(10));
  const auto opened = value_or_throw(checkpoint::Checkpoint::open(path));
  const json all = json::parse(json_report(path, opened->manifest(), {}));
  EXPECT_EQ(all["path"], path);
  EXPECT_EQ(all["run"], "00000000000000aa");
  EXPECT_EQ(all["counters"]["tokens"], 6789000);
  EXPECT_EQ(all["recipe"]["optimizer.lr"], "0.001");
  EXPECT_EQ(all["mesh"], json::parse(R"([["pp", 1], ["dp_shard", 2]])"));
  EXPECT_EQ(all["facts"]["data"], "two books");
  EXPECT_EQ(all["files"].size(), 2U);
  EXPECT_EQ(all["bytes"],
            all["files"][0]["bytes"].get<int>() + all["files"][1]["bytes"].get<int>());
  const json& w = all["tensors"]["w"];
  EXPECT_EQ(w["dtype"], "F32");
  EXPECT_EQ(w["shape"], json::parse("[4, 2]"));
  EXPECT_EQ(w["boxes"][1], json::parse(R"({"begin": [2, 0], "end": [4, 2], "rank": 1,
                            "file": "rank-00001.safetensors", "bytes": 16})"));
  EXPECT_FALSE(all.contains("damage"));
}

TEST(CheckpointJson, NamesDamageWhereItWasLookedFor) {
  EXPECT_EQ(json::parse(json_report("p", head(1), std::vector<std::string>{}))["damage"],
            json::array());
  EXPECT_EQ(json::parse(json_report("p", head(1), std::vector<std::string>{"x"}))["damage"][0],
            "x");
}

TEST(CheckpointJson, IsValidAlsoForAPathThatIsNoUtf8) {
  EXPECT_NO_THROW(json::parse(json_report("a\xff", head(1), {})));
}

}  // namespace
}  // namespace brigade::inspect
