// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/memory_report.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>

namespace brigade::loop {
namespace {

using tensor::Category;
using tensor::kCategories;

using Words = std::array<int64_t, kCategories + 1>;  // the categories, then the total

Words words_of(const MeasuredMemory& memory) {
  Words words = {};
  for (size_t i = 0; i < kCategories; ++i) {
    words[i] = memory.peak[static_cast<Category>(i)];
  }
  words[kCategories] = memory.total;
  return words;
}

MeasuredMemory memory_of(const Words& words) {
  MeasuredMemory memory;
  for (size_t i = 0; i < kCategories; ++i) {
    memory.peak[static_cast<Category>(i)] = words[i];
  }
  memory.total = words[kCategories];
  return memory;
}

std::shared_ptr<tensor::Meter> installed_meter() {
  tensor::install_memory_meter();
  return std::make_shared<tensor::Meter>();
}

}  // namespace

MemoryReport::MemoryReport(collective::World& world)
    : world_(world), meter_(installed_meter()), counted_(meter_) {}

int64_t MemoryReport::end_step() {
  const tensor::MemoryUse use = meter_->use();
  meter_->reset_peaks();
  for (size_t i = 0; i < kCategories; ++i) {
    const auto category = static_cast<Category>(i);
    measured_.peak[category] = std::max(measured_.peak[category], use.peak[category]);
  }
  measured_.total = std::max(measured_.total, use.peak_total());
  return use.peak_total();
}

Result<std::vector<MeasuredMemory>> MemoryReport::gather() {
  MeasuredMemory mine = measured_;
  const int64_t messages = world_.buffer_bytes().peak;
  mine.peak[Category::kCommunication] += messages;
  mine.total += messages;
  Words own = words_of(mine);
  std::vector<Words> words(static_cast<size_t>(world_.size()));
  std::vector<collective::Spans> parts;
  for (Words& rank : words) {
    parts.push_back({collective::bytes_of(std::span<int64_t>(rank))});
  }
  const std::unique_ptr<collective::Communicator> everyone = world_.everyone("memory");
  words[static_cast<size_t>(world_.rank())] = own;
  collective::Work work =
      everyone->all_gather({collective::bytes_of(std::span<int64_t>(own))}, std::move(parts));
  if (Result<void> gathered = work.wait(); !gathered) {
    return fail(gathered.error());
  }
  std::vector<MeasuredMemory> memories;
  std::ranges::transform(words, std::back_inserter(memories), memory_of);
  return memories;
}

}  // namespace brigade::loop
