// SPDX-License-Identifier: Apache-2.0
#include "parallel/collective/scratch_pool.h"

#include <new>
#include <utility>

namespace brigade::collective {
namespace {

// A cache line, no more: glibc before 2.38 does not find freed blocks of wider alignment again, and
// a run would grow by what it reduces in every step.
constexpr std::align_val_t kAlignment{64};

}  // namespace

void ScratchPool::Block::Free::operator()(std::byte* bytes) const noexcept {
  ::operator delete[](bytes, kAlignment);
  count->remove(kBlockBytes);
}

ScratchPool::Block ScratchPool::take() {
  if (free_.empty()) {
    auto* const bytes = static_cast<std::byte*>(::operator new[](kBlockBytes, kAlignment));
    count_.add(kBlockBytes);
    return {std::unique_ptr<std::byte[], Block::Free>(bytes, Block::Free(count_))};
  }
  Block block = std::move(free_.back());
  free_.pop_back();
  return block;
}

void ScratchPool::give(Block block) {
  if (free_.size() < kKeptBlocks) {
    free_.push_back(std::move(block));
  }
}

}  // namespace brigade::collective
