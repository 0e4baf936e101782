// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/tensor_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trainer/checkpoint/convert_elements.h"

namespace brigade::checkpoint {
namespace {

constexpr size_t kCount = 6;

/// One row of numbers per type, of which all are exact in each.
class Numbers final : public TensorSource {
 public:
  const std::string& path() const override { return path_; }
  const SourceTensors& tensors() const override { return tensors_; }
  uint64_t bytes_read() const override { return 0; }

  Result<void> read(std::string_view name,
                    const sharding::Box& box,
                    std::span<std::byte> out) override {
    if (broken) {
      return fail(ErrorCode::kIo, "broken");
    }
    std::vector<float> values;
    for (int64_t i = box.dims[0].begin; i < box.dims[0].end; ++i) {
      values.push_back(static_cast<float>(i) * 0.25F);
    }
    narrow(values, tensors_.find(name)->second.type, out);
    return {};
  }

  bool broken = false;

 private:
  std::string path_ = "P";
  SourceTensors tensors_ = {{"f32.weight", {ElementType::kF32, {kCount}}},
                            {"bf16.weight", {ElementType::kBF16, {kCount}}},
                            {"f16.weight", {ElementType::kF16, {kCount}}},
                            {"f64.weight", {ElementType::kF64, {kCount}}},
                            {"i64.weight", {ElementType::kI64, {kCount}}}};
};

TEST(ReadFloat32, WidensWhatIsStored) {
  Numbers source;
  for (const char* const name : {"f32.weight", "bf16.weight", "f16.weight", "f64.weight"}) {
    std::vector<float> out(4, -1.0F);
    ASSERT_TRUE(read_float32(source, name, {{{2, 6}}}, out)) << name;
    EXPECT_THAT(out, testing::ElementsAre(0.5F, 0.75F, 1.0F, 1.25F)) << name;
  }
}

TEST(ReadFloat32, RefusesTypesThatAreNoFractions) {
  Numbers source;
  std::vector<float> out(kCount);
  const auto done = read_float32(source, "i64.weight", {{{0, kCount}}}, out);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kData);
  EXPECT_EQ(done.error().text, "P: tensor i64.weight: expected F32, BF16, F16 or F64, found I64");
}

TEST(ReadFloat32, NamesTheNearestOfATensorThatIsMissing) {
  Numbers source;
  std::vector<float> out(kCount);
  EXPECT_EQ(read_float32(source, "f32.wieght", {{{0, kCount}}}, out).error().text,
            "P: no tensor f32.wieght among 5 (did you mean f32.weight?)");
  EXPECT_EQ(read_float32(source, "x", {{{0, kCount}}}, out).error().text, "P: no tensor x among 5");
}

TEST(ReadFloat32, PassesTheSourcesErrorsOn) {
  Numbers source;
  source.broken = true;
  std::vector<float> out(kCount);
  for (const char* const name : {"f32.weight", "bf16.weight"}) {
    EXPECT_EQ(read_float32(source, name, {{{0, kCount}}}, out).error().text, "broken");
  }
}

}  // namespace
}  // namespace brigade::checkpoint
