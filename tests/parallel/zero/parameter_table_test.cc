// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/parameter_table.h"

#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/parallel/zero/data_ranks.h"

namespace brigade::zero {
namespace {

using sharding::ParameterFacts;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> names_in(const Unit& unit) {
  std::vector<std::string> names;
  for (const Parameter* parameter : unit.parameters) {
    names.push_back(parameter->facts->name);
  }
  return names;
}

TEST(ParameterTable, ListsUnitsInTheOrderOfFacts) {
  on_layout({}, [](tensor::Program& program) {
    const auto table = value_or_throw(ParameterTable::create(program, tied_facts(), options_of(1)));
    ASSERT_EQ(table->units.size(), 3U);
    EXPECT_THAT(names_in(table->units[0]), ElementsAre("embed"));
    EXPECT_THAT(names_in(table->units[1]), ElementsAre("up", "norm", "down", "scale"));
    EXPECT_THAT(names_in(table->units[2]), ElementsAre("head"));
    EXPECT_THAT(table->units[2].refreshed, ::testing::IsEmpty());  // its owner is
  });
}

TEST(ParameterTable, SharesTheOwnersMemoryAlsoWhenTheUseComesFirst) {
  on_layout({}, [](tensor::Program& program) {
    std::vector<ParameterFacts> facts = tied_facts();
    std::swap(facts.front(), facts.back());
    const auto table = value_or_throw(ParameterTable::create(program, facts, options_of(0)));
    const Parameter& use = table->find("head");
    EXPECT_EQ(use.owner, &table->find("embed"));
    EXPECT_EQ(use.stored.data_ptr(), use.owner->stored.data_ptr());
    EXPECT_NE(use.leaf.local().unsafeGetTensorImpl(),
              use.owner->leaf.local().unsafeGetTensorImpl());
  });
}

void expect_refused(std::vector<ParameterFacts> facts, int stage, const char* text) {
  on_layout({}, [&](tensor::Program& program) {
    const auto set = ParameterTable::create(program, facts, options_of(stage));
    ASSERT_FALSE(set);
    EXPECT_EQ(set.error().code, ErrorCode::kUsage);
    EXPECT_THAT(set.error().text, HasSubstr(text));
  });
}

TEST(ParameterTable, RefusesWhatItCannotHold) {
  std::vector<ParameterFacts> twice = model_facts();
  twice.push_back(twice[1]);
  expect_refused(twice, 0, "parameter up is listed twice");

  std::vector<ParameterFacts> split_twice = model_facts();
  split_twice[0].logical_axes = {"vocab", "mlp"};
  expect_refused(split_twice, 0, "dim 0 (vocab) and dim 1 (mlp)");

  std::vector<ParameterFacts> other_shape = tied_facts();
  other_shape.back().shape = {3, 11};
  expect_refused(other_shape, 0, "equal shapes");

  std::vector<ParameterFacts> chain = tied_facts();
  chain.push_back(chain.back());
  chain.back().name = "tail";
  chain.back().tied_to = "head";
  expect_refused(chain, 0, "tie it to embed");

  expect_refused(model_facts(), 4, "ZeRO stage: expected 0, 1, 2 or 3; found 4");
}

}  // namespace
}  // namespace brigade::zero
