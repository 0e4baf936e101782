// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/module_rows.h"

#include <memory>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/parallel/zero/small_net.h"

namespace brigade::zero {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> names(const ModuleRows& rows) {
  std::vector<std::string> all;
  for (const ModuleRow& row : rows.trained) {
    all.push_back(row.facts.name);
  }
  return all;
}

std::vector<std::string> units(const ModuleRows& rows) {
  std::vector<std::string> all;
  for (const ModuleRow& row : rows.trained) {
    all.push_back(row.facts.unit);
  }
  return all;
}

struct Layer : torch::nn::Module {
  explicit Layer(const at::Tensor& weight) {
    register_parameter("weight", weight);
    register_parameter("bias", at::zeros({4}));
  }
};

/// One weight used by two layers.
struct Shared : torch::nn::Module {
  Shared() {
    const at::Tensor weight = at::ones({4, 4});
    register_module("encode", std::make_shared<Layer>(weight));
    register_module("decode", std::make_shared<Layer>(weight));
  }
};

TEST(ModuleRows, ListTrainedParametersFrozenOnesAndBuffersApart) {
  const SmallNet net(0);
  const ModuleRows rows = value_or_throw(module_rows(net, {}));
  EXPECT_THAT(
      names(rows),
      ElementsAre(
          "scale", "nothing", "first.weight", "first.bias", "second.weight", "second.bias"));
  EXPECT_EQ(rows.trained[2].facts.shape, (sharding::Shape{5, 7}));
  EXPECT_EQ(rows.trained[0].facts.shape, sharding::Shape{});
  ASSERT_EQ(rows.frozen.size(), 1U);
  EXPECT_TRUE(rows.frozen[0].is_same(net.frozen));
  ASSERT_EQ(rows.buffers.size(), 1U);
  EXPECT_TRUE(rows.buffers[0].is_same(net.offset));
}

TEST(ModuleRows, PutEachParameterInTheInnermostUnit) {
  torch::nn::ModuleList inner(torch::nn::Linear(2, 2), torch::nn::Linear(2, 2));
  torch::nn::ModuleList outer(inner, torch::nn::Linear(2, 2));
  const ModuleRows rows = value_or_throw(module_rows(*outer, {"0", "0.1"}));
  EXPECT_THAT(
      names(rows),
      ElementsAre("0.0.weight", "0.0.bias", "0.1.weight", "0.1.bias", "1.weight", "1.bias"));
  EXPECT_THAT(units(rows), ElementsAre("0", "0", "0.1", "0.1", "", ""));
}

TEST(ModuleRows, AreOneForAParameterThatIsRegisteredTwice) {
  const Shared net;
  const ModuleRows rows = value_or_throw(module_rows(net, {}));
  EXPECT_THAT(names(rows), ElementsAre("encode.weight", "encode.bias", "decode.bias"));
}

TEST(ModuleRows, RefuseAParameterThatTwoUnitsShare) {
  const Shared net;
  const auto rows = module_rows(net, {"encode", "decode"});
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().code, ErrorCode::kUsage);
  EXPECT_THAT(rows.error().text,
              AllOf(HasSubstr("encode.weight lies in unit \"encode\""),
                    HasSubstr("is decode.weight in unit \"decode\"")));
}

TEST(ModuleRows, RefuseAUnitWithoutParameters) {
  const SmallNet net(0);
  for (const std::string unit : {"fir", "first.weight", "third"}) {
    const auto rows = module_rows(net, {unit});
    ASSERT_FALSE(rows) << unit;
    EXPECT_THAT(rows.error().text, HasSubstr('"' + unit + '"'));
  }
}

TEST(ModuleRows, RefuseOtherDtypesByName) {
  SmallNet net(0);
  net.second->to(at::kBFloat16);
  const auto rows = module_rows(net, {});
  ASSERT_FALSE(rows);
  EXPECT_THAT(rows.error().text,
              AllOf(HasSubstr("parameter second.weight"), HasSubstr("found BFloat16 on cpu")));
}

TEST(ModuleRows, NameTheChildrenThatTrain) {
  const SmallNet net(0);
  EXPECT_THAT(children_of(net), ElementsAre("first", "second"));
}

}  // namespace
}  // namespace brigade::zero
