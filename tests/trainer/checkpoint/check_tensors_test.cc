// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/check_tensors.h"

#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/text.h"

namespace brigade::checkpoint {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Tensors without a disk.
class FakeSource final : public TensorSource {
 public:
  explicit FakeSource(SourceTensors tensors) : tensors_(std::move(tensors)) {}
  const std::string& path() const override { return path_; }
  const SourceTensors& tensors() const override { return tensors_; }
  Result<void> read(std::string_view, const sharding::Box&, std::span<std::byte>) override {
    return {};
  }
  uint64_t bytes_read() const override { return 0; }

 private:
  std::string path_ = "the source";
  SourceTensors tensors_;
};

const SourceTensors kWanted = {{"head", {ElementType::kF32, {97, 32}}},
                               {"norm", {ElementType::kF32, {32}}}};

TEST(CheckTensors, TakesOtherTypesAndStatesThatNobodyWants) {
  SourceTensors tensors = kWanted;
  tensors["head"].type = ElementType::kBF16;
  tensors["optimizer.state.x.exp_avg"] = {ElementType::kF32, {1}};
  EXPECT_TRUE(check_tensors(FakeSource(tensors), kWanted));
}

TEST(CheckTensors, ListsWhatIsMissingUnexpectedAndOfAnotherShape) {
  const FakeSource source({{"norm", {ElementType::kF32, {33}}}, {"extra", {}}});
  const Result<void> checked = check_tensors(source, kWanted);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::kData);
  EXPECT_EQ(checked.error().text,
            "the source: missing parameters: 1 (head); unexpected parameters: 1 (extra); other "
            "shapes: 1 (norm [33] for [32])");
}

TEST(CheckTensors, AnOptimizersStateThatIsWantedIsMissed) {
  SourceTensors wanted = kWanted;
  wanted["optimizer.state.head.exp_avg"] = {ElementType::kF32, {97, 32}};
  EXPECT_FALSE(check_tensors(FakeSource(kWanted), wanted));
}

TEST(CheckTensors, ListsTenAndSaysHowMany) {
  SourceTensors wanted;
  for (int i = 0; i < 12; ++i) {
    wanted[concat("tensor", i)] = {ElementType::kF32, {1}};
  }
  const Result<void> checked = check_tensors(FakeSource({}), wanted);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().text, AllOf(HasSubstr("12 ("), Not(HasSubstr("tensor9,"))));
}

}  // namespace
}  // namespace brigade::checkpoint
