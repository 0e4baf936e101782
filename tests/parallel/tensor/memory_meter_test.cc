// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/memory_meter.h"

#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <c10/core/CPUAllocator.h>
#include <gtest/gtest.h>

namespace brigade::tensor {
namespace {

constexpr int64_t kBytes = 4096;

/// kBytes of fp32.
at::Tensor made() {
  return at::empty({kBytes / 4});
}

class MemoryMeter : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    made();  // libtorch's own first words
    install_memory_meter();
  }

  CategoryBytes live() const { return meter_->use().live; }
  int64_t live(Category category) const { return live()[category]; }

  const std::shared_ptr<Meter> meter_ = std::make_shared<Meter>();
};

TEST_F(MemoryMeter, CountsATensorUntilItIsFreed) {
  const MeterScope counted(meter_);
  at::Tensor tensor = made();
  EXPECT_EQ(live(Category::kActivations), kBytes);
  const at::Tensor view = tensor.narrow(0, 0, 1);  // the same block
  tensor.reset();
  EXPECT_EQ(live().total(), kBytes);
}

TEST_F(MemoryMeter, CountsTheBytesAskedForOfAnySizeAndType) {
  const MeterScope counted(meter_);
  int64_t expected = 0;
  std::vector<at::Tensor> tensors;
  for (const int64_t elements : {0, 1, 3, 16, 1000, 1 << 20}) {
    for (const at::ScalarType type : {at::kByte, at::kBFloat16, at::kDouble}) {
      tensors.push_back(at::empty({elements}, type));
      expected += elements * static_cast<int64_t>(c10::elementSize(type));
    }
  }
  EXPECT_EQ(live().total(), expected);
  tensors.clear();
  EXPECT_EQ(live().total(), 0);
  EXPECT_EQ(meter_->use().peak_total(), expected);
}

TEST_F(MemoryMeter, CountsForTheInnermostCategory) {
  const MeterScope counted(meter_);
  const CategoryScope parameters(Category::kParameters);
  const at::Tensor weight = made();
  {
    const CategoryScope gathered(Category::kGathered);
    const at::Tensor unit = made();
    EXPECT_EQ(live(Category::kGathered), kBytes);
  }
  const at::Tensor bias = made();
  EXPECT_EQ(live(Category::kParameters), 2 * kBytes);
  EXPECT_EQ(live().total(), 2 * kBytes);
}

TEST_F(MemoryMeter, CountsNothingWithoutAMeter) {
  const MeterScope counted(meter_);
  {
    const MeterScope none(nullptr);
    const at::Tensor tensor = made();
    recategorize(tensor, Category::kGradients);
    EXPECT_EQ(live().total(), 0);
  }
  const at::Tensor tensor = made();
  EXPECT_EQ(live().total(), kBytes);
}

TEST_F(MemoryMeter, CountsNothingThatNoTensorAllocated) {
  const MeterScope counted(meter_);
  std::vector<float> values(kBytes / 4);
  const at::Tensor tensor = at::from_blob(values.data(), {kBytes / 4});
  recategorize(tensor, Category::kGradients);
  recategorize(at::Tensor(), Category::kGradients);
  EXPECT_EQ(live(), CategoryBytes());
}

TEST_F(MemoryMeter, RanksOfOneProcessHaveMetersOfTheirOwn) {
  constexpr int kRanks = 4;
  std::vector<std::shared_ptr<Meter>> meters(kRanks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kRanks; ++rank) {
    meters[static_cast<size_t>(rank)] = std::make_shared<Meter>();
    threads.emplace_back([rank, meter = meters[static_cast<size_t>(rank)]] {
      const MeterScope counted(meter);
      std::vector<at::Tensor> tensors;
      for (int i = 0; i < 1000; ++i) {
        tensors.push_back(made());
        tensors.resize(static_cast<size_t>(i % (rank + 2)));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (int rank = 0; rank < kRanks; ++rank) {
    const MemoryUse use = meters[static_cast<size_t>(rank)]->use();
    EXPECT_EQ(use.live_total(), 0);
    EXPECT_EQ(use.peak_total(), (rank + 2) * kBytes) << rank;
  }
  EXPECT_EQ(live().total(), 0);
}

TEST_F(MemoryMeter, ABlockIsTakenOffItsOwnMeterWhereverItIsFreed) {
  at::Tensor tensor;
  {
    const MeterScope counted(meter_);
    const CategoryScope scope(Category::kCommunication);
    tensor = made();
  }
  const auto other = std::make_shared<Meter>();
  std::thread([&] {
    const MeterScope counted(other);
    tensor.reset();
  }).join();
  EXPECT_EQ(live(), CategoryBytes());
  EXPECT_EQ(other->use().live, CategoryBytes());
}

TEST_F(MemoryMeter, ABlockMayOutliveAllWhoAskTheMeter) {
  auto meter = std::make_shared<Meter>();
  const std::weak_ptr<Meter> watched = meter;
  at::Tensor tensor;
  {
    const MeterScope counted(std::move(meter));
    tensor = made();
  }
  EXPECT_FALSE(watched.expired());
  tensor.reset();
  EXPECT_TRUE(watched.expired());
}

TEST_F(MemoryMeter, ABlockIsCountedWhileItsStorageIsSwapped) {
  const MeterScope counted(meter_);
  at::Tensor leaf = at::empty({0});
  {
    const CategoryScope scope(Category::kGathered);
    at::Tensor gathered = made();
    c10::StorageImpl* from = gathered.storage().unsafeGetStorageImpl();
    c10::StorageImpl* into = leaf.storage().unsafeGetStorageImpl();
    into->set_data_ptr(from->set_data_ptr(c10::DataPtr(nullptr, c10::DeviceType::CPU)));
    into->set_nbytes(kBytes);
    from->set_nbytes(0);
  }
  EXPECT_EQ(live(Category::kGathered), kBytes);  // though its first tensor is gone
  leaf.storage().unsafeGetStorageImpl()->set_data_ptr(c10::DataPtr(nullptr, c10::DeviceType::CPU));
  EXPECT_EQ(live(), CategoryBytes());
}

TEST_F(MemoryMeter, ResizedStorageCountsAsItIsNow) {
  const MeterScope counted(meter_);
  at::Tensor tensor = at::arange(8, at::kFloat);
  const int64_t before = live().total();
  tensor.resize_({kBytes / 4});
  EXPECT_EQ(live().total(), kBytes);
  EXPECT_GT(meter_->use().peak_total(), before);
  EXPECT_TRUE(tensor.narrow(0, 0, 8).equal(at::arange(8, at::kFloat)));
}

TEST_F(MemoryMeter, MovesALiveBlockToAnotherCategory) {
  const MeterScope counted(meter_);
  at::Tensor weight = made().fill_(2.0F).requires_grad_(true);
  (weight * weight).sum().backward();
  recategorize(weight, Category::kParameters);
  recategorize(weight.grad().view({2, -1}), Category::kGradients);
  EXPECT_EQ(live(Category::kParameters), kBytes);
  EXPECT_EQ(live(Category::kGradients), kBytes);
  EXPECT_EQ(live(Category::kActivations), 0);
  EXPECT_EQ(meter_->use().peak[Category::kGradients], kBytes);
  weight.mutable_grad().reset();
  EXPECT_EQ(live(Category::kGradients), 0);
  EXPECT_EQ(live().total(), kBytes);
}

TEST_F(MemoryMeter, ThePeakKnowsWhatItConsistedOf) {
  const MeterScope counted(meter_);
  const CategoryScope scope(Category::kParameters);
  const at::Tensor weight = made();
  {
    const CategoryScope activations(Category::kActivations);
    const at::Tensor first = made();
    const at::Tensor second = made();
  }
  {
    const CategoryScope gathered(Category::kGathered);
    const at::Tensor unit = made();
  }
  const MemoryUse use = meter_->use();
  EXPECT_EQ(use.peak_total(), 3 * kBytes);
  EXPECT_EQ(use.at_peak[Category::kParameters], kBytes);
  EXPECT_EQ(use.at_peak[Category::kActivations], 2 * kBytes);
  EXPECT_EQ(use.at_peak[Category::kGathered], 0);
  EXPECT_EQ(use.peak[Category::kGathered], kBytes);  // at a moment of its own
  EXPECT_EQ(use.live_total(), kBytes);
}

TEST_F(MemoryMeter, PeaksStartAgainFromWhatIsLive) {
  const MeterScope counted(meter_);
  const at::Tensor kept = made();
  made();
  EXPECT_EQ(meter_->use().peak_total(), 2 * kBytes);
  meter_->reset_peaks();
  EXPECT_EQ(meter_->use().peak_total(), kBytes);
  EXPECT_EQ(meter_->use().peak[Category::kActivations], kBytes);
  const at::Tensor another = made();
  EXPECT_EQ(meter_->use().peak_total(), 2 * kBytes);
}

TEST_F(MemoryMeter, CountsMemoryThatIsNotLibtorchsToo) {
  meter_->add(Category::kCommunication, 100);
  meter_->move(Category::kCommunication, Category::kActivations, 60);
  meter_->remove(Category::kCommunication, 40);
  EXPECT_EQ(live(Category::kActivations), 60);
  EXPECT_EQ(live().total(), 60);
  EXPECT_EQ(meter_->use().peak_total(), 100);
}

TEST_F(MemoryMeter, TheAllocatorKeepsLibtorchsPromises) {
  const MeterScope counted(meter_);
  install_memory_meter();  // again: nothing
  c10::Allocator& allocator = *c10::GetCPUAllocator();
  void* raw = allocator.raw_allocate(kBytes);
  EXPECT_EQ(live().total(), kBytes);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(raw) % c10::gAlignment, 0U);
  std::fill_n(static_cast<char*>(raw), kBytes, 'x');
  {
    const c10::DataPtr copy = allocator.clone(raw, kBytes);
    EXPECT_TRUE(allocator.is_simple_data_ptr(copy));
    EXPECT_EQ(copy.get_deleter(), allocator.raw_deleter());
    EXPECT_EQ(static_cast<const char*>(copy.get())[kBytes - 1], 'x');
    EXPECT_EQ(live().total(), 2 * kBytes);
  }
  allocator.raw_deallocate(raw);
  const c10::DataPtr nothing = allocator.allocate(0);
  EXPECT_EQ(nothing.get(), nullptr);
  EXPECT_EQ(nothing.get_deleter(), allocator.raw_deleter());
  EXPECT_EQ(live(), CategoryBytes());
}

TEST_F(MemoryMeter, MoreThanThereIsIsAnErrorAndNotCounted) {
  const MeterScope counted(meter_);
  for (const int64_t bytes : {int64_t{-1}, int64_t{-60}, int64_t{1} << 60}) {
    EXPECT_THROW((void)c10::GetCPUAllocator()->allocate(static_cast<size_t>(bytes)), c10::Error);
  }
  EXPECT_EQ(live(), CategoryBytes());
}

TEST_F(MemoryMeter, NamesItsCategories) {
  EXPECT_EQ(to_string(Category::kOptimizerStates), "optimizer states");
  EXPECT_EQ(to_string(static_cast<Category>(kCategories - 1)), "communication");
}

}  // namespace
}  // namespace brigade::tensor
