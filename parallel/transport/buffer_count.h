// SPDX-License-Identifier: Apache-2.0
/// BufferCount: bytes that messages hold beside the caller's own memory, now and at most; and
/// CountedBytes, such a buffer.
///
///   CountedBytes copy(endpoint.buffers(), send.bytes);   // counted while it lives
///
/// Thread safety: a count, safe; distinct buffers, safe.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "parallel/transport/spans.h"

namespace brigade::transport {

struct BufferBytes {
  int64_t live = 0;
  int64_t peak = 0;
};

class BufferCount {
 public:
  void add(int64_t bytes) {
    const int64_t now = live_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    int64_t peak = peak_.load(std::memory_order_relaxed);
    while (now > peak && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
    }
  }
  void remove(int64_t bytes) { live_.fetch_sub(bytes, std::memory_order_relaxed); }

  BufferBytes bytes() const {
    return {live_.load(std::memory_order_relaxed), peak_.load(std::memory_order_relaxed)};
  }

 private:
  std::atomic<int64_t> live_ = 0;
  std::atomic<int64_t> peak_ = 0;
};

/// Zeros at first. Move-only; the count outlives it.
class CountedBytes {
 public:
  CountedBytes() = default;
  CountedBytes(BufferCount& count, size_t size) : count_(&count), bytes_(size) {
    count.add(static_cast<int64_t>(size));
  }
  ~CountedBytes() { forget(); }
  CountedBytes(CountedBytes&& other) noexcept
      : count_(std::exchange(other.count_, nullptr)), bytes_(std::move(other.bytes_)) {}
  CountedBytes& operator=(CountedBytes&& other) noexcept {
    if (this != &other) {
      forget();
      count_ = std::exchange(other.count_, nullptr);
      bytes_ = std::move(other.bytes_);
    }
    return *this;
  }
  CountedBytes(const CountedBytes&) = delete;
  CountedBytes& operator=(const CountedBytes&) = delete;

  Span span() { return bytes_; }

 private:
  void forget() {
    if (count_ != nullptr) {
      count_->remove(static_cast<int64_t>(bytes_.size()));
    }
  }

  BufferCount* count_ = nullptr;
  std::vector<std::byte> bytes_;
};

}  // namespace brigade::transport
