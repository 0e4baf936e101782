// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/buffers.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "parallel/base/check.h"

namespace brigade::tensor {
namespace {

constexpr DType kAll[] = {DType::kFloat32,
                          DType::kBFloat16,
                          DType::kFloat64,
                          DType::kInt64,
                          DType::kInt32,
                          DType::kUInt8,
                          DType::kBool};

TEST(Buffers, NameEveryElementTypeBothWays) {
  for (const DType dtype : kAll) {
    EXPECT_EQ(dtype_of(at::empty({1}, scalar_type_of(dtype))), dtype);
  }
}

TEST(Buffers, SpanTheBytesOfTheTensorItself) {
  for (const DType dtype : kAll) {
    const at::Tensor tensor = at::zeros({3, 5}, scalar_type_of(dtype));
    const collective::Span span = bytes_of(tensor);
    EXPECT_EQ(static_cast<int64_t>(span.size()), 15 * size_of(dtype));
    EXPECT_EQ(static_cast<void*>(span.data()), tensor.data_ptr());
  }
}

TEST(Buffers, BeginWhereAViewBegins) {
  const at::Tensor whole = at::zeros({4, 3});
  bytes_of(whole.narrow(0, 2, 1))[0] = std::byte{1};
  EXPECT_EQ(whole.count_nonzero().item<int64_t>(), 1);
  EXPECT_NE(whole[2][0].item<float>(), 0.0F);
}

TEST(Buffers, SpanNothingOfAnEmptyTensor) {
  EXPECT_TRUE(bytes_of(at::empty({0, 7})).empty());
}

TEST(Buffers, RefuseWhatIsNoRunOfBytes) {
  EXPECT_THROW(bytes_of(at::zeros({4, 3}).t()), CheckFailure);
  EXPECT_THROW(dtype_of(at::zeros({1}, at::kComplexFloat)), CheckFailure);
}

}  // namespace
}  // namespace brigade::tensor
