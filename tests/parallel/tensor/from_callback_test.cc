// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/from_callback.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

using sharding::Box;
using sharding::PartitionSpec;
using sharding::TensorType;
using ::testing::HasSubstr;

const std::vector<mesh::Axis> kMesh = {{"x", 3}, {"y", 2}};

void expect_refusal(Program& program,
                    const TensorType& type,
                    const std::function<at::Tensor(const Box&)>& piece,
                    const std::string& text) {
  try {
    (void)from_callback(program, type, piece);
    FAIL() << "no error";
  } catch (const Exception& exception) {
    EXPECT_EQ(exception.error().code, ErrorCode::kType);
    EXPECT_THAT(exception.error().text, HasSubstr(text));
    EXPECT_FALSE(exception.error().rule.empty());
  }
}

TEST(FromCallback, AsksEachRankForItsOwnBox) {
  on_mesh(kMesh, [](Program& program) {
    const at::Tensor whole = numbers({10, 5}, 0.3);
    const TensorType type{DType::kFloat32, {10, 5}, PartitionSpec({{"x"}, {"y"}})};
    const ShardedTensor made = from_callback(program, type, [&](const Box& box) {
      return whole.narrow(0, box.dims[0].begin, box.dims[0].size())
          .narrow(1, box.dims[1].begin, box.dims[1].size());
    });
    EXPECT_EQ(made.type(), type);
    EXPECT_TRUE(at::equal(collect(made), whole));
  });
}

TEST(FromCallback, SaysWhatWasExpectedAndWhatCame) {
  on_mesh(kMesh, [](Program& program) {
    const TensorType type{DType::kFloat32, {10, 4}, PartitionSpec({{"x"}})};
    const std::string rank = std::to_string(program.rank());
    const std::string rows = program.rank() < 2 ? "0:3" : program.rank() < 4 ? "3:6" : "6:10";
    const std::string size = program.rank() < 4 ? "3" : "4";
    expect_refusal(
        program,
        type,
        [](const Box&) {
          return at::zeros({10, 4});
        },
        "from_callback f32[10@x,4]: rank " + rank + " holds [" + rows +
            ", 0:4], so the callback was expected to return f32[" + size +
            ", 4]; it returned f32[10, 4]");
    expect_refusal(
        program,
        type,
        [](const Box& box) { return at::zeros(box.shape(), at::kLong); },
        "it returned i64[" + size + ", 4]");
    expect_refusal(
        program, type, [](const Box&) { return at::Tensor(); }, "it returned no tensor");
  });
}

TEST(FromCallback, RefusesTypesThatNoBoxCanFill) {
  on_mesh(kMesh, [](Program& program) {
    const auto none = [](const Box&) { return at::Tensor(); };
    expect_refusal(program, {DType::kFloat32, {4}, PartitionSpec({{"z"}})}, none, "\"z\"");
    expect_refusal(program,
                   {DType::kFloat32, {4}, PartitionSpec().with_unreduced({"y"})},
                   none,
                   "not a term of a sum; make it without {U:y} and reshard");
  });
}

}  // namespace
}  // namespace brigade::tensor
