// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/memory_meter.h"

#include <algorithm>
#include <limits>
#include <new>
#include <numeric>
#include <utility>

#include <c10/core/CPUAllocator.h>

#include "parallel/base/check.h"

namespace brigade::tensor {
namespace {

thread_local const std::shared_ptr<Meter>* current_meter = nullptr;
thread_local Category current_category = Category::kActivations;

/// Stands before the data of each block.
struct Header {
  std::shared_ptr<Meter> meter;  // shared: the block may be freed when all else is gone
  int64_t bytes = 0;
  Category category = Category::kActivations;
  void* inner_context = nullptr;
  c10::DeleterFnPtr inner_deleter = nullptr;
};

// Keeps the data as aligned as the block is.
constexpr size_t kHeaderBytes = 64;
static_assert(sizeof(Header) <= kHeaderBytes && kHeaderBytes % c10::gAlignment == 0);

Header* header_of(void* data) {
  return std::launder(reinterpret_cast<Header*>(static_cast<std::byte*>(data) - kHeaderBytes));
}

void free_block(void* data) {
  if (data == nullptr) {
    return;
  }
  Header* header = header_of(data);
  if (header->meter != nullptr) {
    header->meter->remove(header->category, header->bytes);
  }
  void* const context = header->inner_context;
  const c10::DeleterFnPtr deleter = header->inner_deleter;
  header->~Header();
  deleter(context);
}

/// A block's context is its data, as of libtorch's own allocator, so the raw interface and what
/// asks for a simple DataPtr work.
class CountingAllocator final : public c10::Allocator {
 public:
  explicit CountingAllocator(c10::Allocator& inner) : inner_(inner) {}

  c10::DataPtr allocate(size_t bytes) override {
    if (bytes == 0) {
      return {nullptr, nullptr, &free_block, c10::DeviceType::CPU};
    }
    if (bytes > std::numeric_limits<size_t>::max() - kHeaderBytes) {
      return inner_.allocate(bytes);  // which says that there is not as much
    }
    c10::DataPtr inner = inner_.allocate(bytes + kHeaderBytes);
    auto* const data = static_cast<std::byte*>(inner.get()) + kHeaderBytes;
    auto* const header = new (inner.get()) Header;
    header->inner_deleter = inner.get_deleter();
    header->inner_context = inner.release_context();
    if (current_meter != nullptr && *current_meter != nullptr) {
      header->meter = *current_meter;
      header->bytes = static_cast<int64_t>(bytes);
      header->category = current_category;
      header->meter->add(header->category, header->bytes);
    }
    return {data, data, &free_block, c10::DeviceType::CPU};
  }

  c10::DeleterFnPtr raw_deleter() const override { return &free_block; }

  void copy_data(void* to, const void* from, size_t bytes) const override {
    inner_.copy_data(to, from, bytes);
  }

 private:
  c10::Allocator& inner_;
};

}  // namespace

std::string_view to_string(Category category) {
  switch (category) {
    case Category::kParameters: return "parameters";
    case Category::kGradients: return "gradients";
    case Category::kOptimizerStates: return "optimizer states";
    case Category::kGathered: return "gathered units";
    case Category::kActivations: return "activations";
    case Category::kCommunication: return "communication";
  }
  BRIGADE_CHECK(false, static_cast<int>(category));
}

int64_t CategoryBytes::total() const {
  return std::accumulate(bytes_.begin(), bytes_.end(), int64_t{0});
}

MemoryUse Meter::use() const {
  const MutexLock lock(mutex_);
  return use_;
}

void Meter::reset_peaks() {
  const MutexLock lock(mutex_);
  use_.peak = use_.live;
  use_.at_peak = use_.live;
  peak_total_ = live_total_;
}

void Meter::grow(Category category, int64_t bytes) {
  int64_t& live = use_.live[category];
  live += bytes;
  use_.peak[category] = std::max(use_.peak[category], live);
}

void Meter::add(Category category, int64_t bytes) {
  const MutexLock lock(mutex_);
  grow(category, bytes);
  live_total_ += bytes;
  if (live_total_ > peak_total_) {
    peak_total_ = live_total_;
    use_.at_peak = use_.live;
  }
}

void Meter::remove(Category category, int64_t bytes) {
  const MutexLock lock(mutex_);
  use_.live[category] -= bytes;
  live_total_ -= bytes;
}

void Meter::move(Category from, Category to, int64_t bytes) {
  const MutexLock lock(mutex_);
  use_.live[from] -= bytes;
  grow(to, bytes);
}

void install_memory_meter() {
  // Never destroyed: blocks may be freed after all statics are.
  static CountingAllocator* const allocator = [] {
    auto* made = new CountingAllocator(*c10::GetCPUAllocator());
    c10::SetCPUAllocator(made, std::numeric_limits<uint8_t>::max());
    return made;
  }();
  BRIGADE_CHECK(c10::GetCPUAllocator() == allocator, "another CPU allocator was put before ours");
}

MeterScope::MeterScope(std::shared_ptr<Meter> meter)
    : meter_(std::move(meter)), before_(std::exchange(current_meter, &meter_)) {}

MeterScope::~MeterScope() {
  current_meter = before_;
}

CategoryScope::CategoryScope(Category category)
    : before_(std::exchange(current_category, category)) {}

CategoryScope::~CategoryScope() {
  current_category = before_;
}

void recategorize(const at::Tensor& tensor, Category category) {
  if (!tensor.defined() || !tensor.has_storage()) {
    return;
  }
  const c10::DataPtr& block = tensor.storage().data_ptr();
  if (block.get_deleter() != &free_block || block.get_context() == nullptr) {
    return;
  }
  Header& header = *header_of(block.get_context());
  if (header.meter != nullptr) {
    header.meter->move(std::exchange(header.category, category), category, header.bytes);
  }
}

}  // namespace brigade::tensor
