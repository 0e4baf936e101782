// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/tensor_source.h"

#include <algorithm>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trainer/checkpoint/convert_elements.h"

namespace brigade::checkpoint {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// One number in any type, as often as it is asked for.
class OneNumber final : public TensorSource {
 public:
  explicit OneNumber(ElementType type) : tensors_{{"lm_head.weight", {type, {4}}}} {}
  const std::string& path() const override { return path_; }
  const SourceTensors& tensors() const override { return tensors_; }
  Result<void> read(std::string_view, const sharding::Box& box, std::span<std::byte> out) override {
    const std::vector<float> values(static_cast<size_t>(box.element_count()), 1.5F);
    narrow(values, tensors_.begin()->second.type, out);
    return {};
  }
  uint64_t bytes_read() const override { return 0; }

 private:
  std::string path_ = "the/source";
  SourceTensors tensors_;
};

TEST(TensorSource, IsReadAsFp32) {
  for (const ElementType type :
       {ElementType::kF32, ElementType::kF64, ElementType::kBF16, ElementType::kF16}) {
    OneNumber source(type);
    std::vector<float> values(2);
    value_or_throw(read_float32(source, "lm_head.weight", {{{1, 3}}}, values));
    EXPECT_THAT(values, ElementsAre(1.5F, 1.5F)) << type;
  }
}

TEST(TensorSource, RefusesATypeThatIsNoFloat) {
  OneNumber source(ElementType::kI32);
  std::vector<float> values(2);
  const Result<void> done = read_float32(source, "lm_head.weight", {{{1, 3}}}, values);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().text, AllOf(HasSubstr("lm_head.weight"), HasSubstr("found I32")));
}

TEST(TensorSource, NamesTheNearestOfAMissingTensor) {
  OneNumber source(ElementType::kF32);
  std::vector<float> values(2);
  const Result<void> done = read_float32(source, "lm_haed.weight", {{{1, 3}}}, values);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kData);
  EXPECT_THAT(done.error().text,
              AllOf(HasSubstr("the/source"), HasSubstr("did you mean lm_head.weight?")));
}

}  // namespace
}  // namespace brigade::checkpoint
