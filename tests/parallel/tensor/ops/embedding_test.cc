// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/embedding.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "parallel/tensor/casts.h"
#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

using sharding::PartitionSpec;

at::Tensor table(int64_t rows) {
  return at::sin(at::arange(rows * 6, at::kFloat) * 0.37).view({rows, 6});
}

at::Tensor tokens(int64_t vocabulary) {
  return (at::arange(20, at::kLong) * 13 % vocabulary).view({5, 4});
}

const Op kLookUp = [](const std::vector<ShardedTensor>& operands) {
  const ShardedTensor rows = embedding(operands[0], operands[1]);
  return reshard(rows, operands[1].type().spec, "test");
};

TEST(Embedding, SplitsTheVocabularyAlsoUnevenly) {
  const PartitionSpec of_tokens({{"data"}});
  const PartitionSpec of_table = PartitionSpec({{"tp"}}).with_reduced({"data"});
  for (const int64_t vocabulary : {12, 13, 97, 3}) {
    for (const int64_t tp : {1, 2, 4}) {
      SCOPED_TRACE(std::to_string(vocabulary) + " over tp" + std::to_string(tp));
      expect_equal_to_one_rank({{"data", 2}, {"tp", tp}},
                               {{table(vocabulary), of_table}, {tokens(vocabulary), of_tokens}},
                               kLookUp);
    }
  }
}

TEST(Embedding, IsAnUnfinishedSumOverTheVocabularysAxes) {
  on_mesh({{"data", 1}, {"tp", 2}}, [](Program& program) {
    const ShardedTensor rows =
        embedding(place(program, table(8), PartitionSpec({{"tp"}})), place(program, tokens(8), {}));
    EXPECT_EQ(rows.type().spec, PartitionSpec().with_unreduced({"tp"}));
  });
}

TEST(Embedding, CollectsTheGradientOfAReplicatedTable) {
  expect_equal_to_one_rank({{"data", 3}},
                           {{table(9), PartitionSpec()}, {tokens(9), PartitionSpec({{"data"}})}},
                           kLookUp);
}

/// 20 tokens share few rows: their gradients are summed in float.
TEST(Embedding, InBf16IsTheFloatOpRounded) {
  for (const std::string mesh : {"x1,y1", "x2,y2"}) {
    expect_bf16_rounds_float(mesh,
                             {{table(5), PartitionSpec({{"y"}}).with_reduced({"x"})},
                              {tokens(5), PartitionSpec({{"x"}})}},
                             kLookUp);
  }
}

}  // namespace
}  // namespace brigade::tensor
