// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/mesh_lists.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trainer/config/toml_text.h"

namespace brigade::study {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Read {
  std::map<int64_t, std::vector<std::string>> texts;
  std::string problems;
};

Read read(const std::string& line, const std::vector<int64_t>& ranks) {
  const std::string file = "s.toml";
  config::Problems problems;
  const auto table = config::parse_toml(line, file, problems);
  TableReader reader(*table, "grid", file, problems);
  Read out;
  for (const auto& [count, choices] : read_meshes(reader, ranks)) {
    for (const MeshChoice& choice : choices) {
      out.texts[count].push_back(to_string(choice.degrees));
    }
  }
  out.problems = problems.empty() ? "" : problems.error().text;
  return out;
}

TEST(MeshLists, RulesHoldForAllRanksAndSizesForTheirOwn) {
  const Read lists = read("mesh = [\"dp\", \"dp2 x tp2\"]", {2, 4});
  EXPECT_EQ(lists.problems, "");
  EXPECT_THAT(lists.texts.at(2), ElementsAre("dp2"));
  EXPECT_THAT(lists.texts.at(4), ElementsAre("dp4", "dp2 x tp2"));
}

TEST(MeshLists, ATableGoesByTheNumberOfRanks) {
  const Read lists = read("mesh = { 2 = \"tp\", 4 = [\"pp\", \"dp2 x pp2\"] }", {2, 4});
  EXPECT_EQ(lists.problems, "");
  EXPECT_THAT(lists.texts.at(2), ElementsAre("tp2"));
  EXPECT_THAT(lists.texts.at(4), ElementsAre("pp4", "dp2 x pp2"));
}

TEST(MeshLists, SizesForNoNumberOfRanksAreAContradiction) {
  EXPECT_THAT(read("mesh = \"dp2 x tp2\"", {2, 8}).problems,
              HasSubstr("is for 4 ranks, which `ranks` does not list; it lists 2, 8"));
  EXPECT_THAT(read("mesh = { 2 = \"dp2 x tp2\" }", {2}).problems,
              HasSubstr("is for 4 ranks, not 2"));
  EXPECT_THAT(read("mesh = { 3 = \"dp\" }", {2}).problems,
              HasSubstr("goes by numbers of `ranks` (2), found `3`"));
}

TEST(MeshLists, ARuleAndSizesThatAreOneMeshAreAContradiction) {
  EXPECT_THAT(read("mesh = [\"dp\", \"dp2\"]", {2}).problems,
              HasSubstr("the meshes \"dp\" and \"dp2\" are the same one for 2 ranks"));
  EXPECT_EQ(read("mesh = [\"dp\", \"tp\", \"pp\"]", {1, 2}).problems, "")
      << "one rank: measured once";
}

TEST(MeshLists, RanksWithoutAMeshAreAProblem) {
  EXPECT_THAT(read("mesh = \"dp2\"", {2, 4}).problems, HasSubstr("no mesh is for 4 ranks"));
}

}  // namespace
}  // namespace brigade::study
