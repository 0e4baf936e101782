// SPDX-License-Identifier: Apache-2.0
/// Meter: how many bytes of tensors a rank holds, now and at most, by what they are for.
///
///   install_memory_meter();                             // once per process, before other threads
///   const auto meter = std::make_shared<Meter>();
///   const MeterScope counted(meter);                    // this thread's tensors, while it lives
///   {
///     const CategoryScope scope(Category::kGathered);
///     weights = at::empty({1024, 1024});                // 4 MiB of gathered units
///   }
///   meter->use().live_total();
///
/// An allocator of ours stands before libtorch's for CPU memory. Each block remembers meter,
/// category and size from its allocation on and is counted until it is freed, by whatever thread,
/// and wherever its DataPtr goes meanwhile. Sizes are those that were asked for; what the system
/// rounds up, and the allocator's own 64 bytes per block, are not in them.
///
/// Not counted: memory that no tensor allocated (from_blob, libraries' work space), tensors made
/// before install_memory_meter(), and those of threads without a meter: of OpenMP's workers, and
/// the pool threads onto which autograd moves what is nested more than 60 deep.
///
/// Cost:          some tens of ns per tensor allocated and freed.
/// Thread safety: safe; scopes belong to one thread and end in the reverse order of their begin.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include <ATen/core/Tensor.h>

#include "parallel/base/mutex.h"

namespace brigade::tensor {

enum class Category : uint8_t {
  kParameters,       ///< weights as they are stored, masters included
  kGradients,        ///< sums of gradients, from backward to update
  kOptimizerStates,  ///< moments
  kGathered,         ///< weights of units while they are gathered
  kActivations,      ///< everything else that a step makes
  kCommunication,    ///< what waits to be sent or joined
};

inline constexpr size_t kCategories = 6;

/// "parameters", "optimizer states": the words of the tables.
std::string_view to_string(Category category);

/// Bytes by category.
class CategoryBytes {
 public:
  int64_t& operator[](Category category) { return bytes_[static_cast<size_t>(category)]; }
  int64_t operator[](Category category) const { return bytes_[static_cast<size_t>(category)]; }
  int64_t total() const;
  bool operator==(const CategoryBytes&) const = default;

 private:
  std::array<int64_t, kCategories> bytes_ = {};
};

/// What a meter has counted.
struct MemoryUse {
  CategoryBytes live;     ///< now
  CategoryBytes peak;     ///< the most of each, at moments of its own
  CategoryBytes at_peak;  ///< of each at the moment when there was most in all
  int64_t live_total() const { return live.total(); }
  int64_t peak_total() const { return at_peak.total(); }
};

/// Owned by those who ask it and by each block that it counts, so that a block may outlive them.
class Meter {
 public:
  Meter() = default;
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  MemoryUse use() const;
  /// Peaks are those from now on; what is live counts.
  void reset_peaks();

  // What allocators say; also for memory that is not libtorch's.
  void add(Category category, int64_t bytes);
  void remove(Category category, int64_t bytes);
  void move(Category from, Category to, int64_t bytes);

 private:
  void grow(Category category, int64_t bytes) BRIGADE_REQUIRES(mutex_);

  mutable Mutex mutex_;
  int64_t live_total_ BRIGADE_GUARDED_BY(mutex_) = 0;
  int64_t peak_total_ BRIGADE_GUARDED_BY(mutex_) = 0;
  MemoryUse use_ BRIGADE_GUARDED_BY(mutex_);
};

/// Puts the counting allocator before the one in place, with the highest priority. Again: nothing.
/// libtorch's own registry has no lock: call it before other threads allocate.
void install_memory_meter();

/// Counts what this thread allocates from now on; null: nothing.
class MeterScope {
 public:
  explicit MeterScope(std::shared_ptr<Meter> meter);
  ~MeterScope();
  MeterScope(const MeterScope&) = delete;
  MeterScope& operator=(const MeterScope&) = delete;

 private:
  const std::shared_ptr<Meter> meter_;
  const std::shared_ptr<Meter>* const before_;
};

/// What this thread's tensors are for; kActivations where nothing is said.
class CategoryScope {
 public:
  explicit CategoryScope(Category category);
  ~CategoryScope();
  CategoryScope(const CategoryScope&) = delete;
  CategoryScope& operator=(const CategoryScope&) = delete;

 private:
  const Category before_;
};

/// From now on the tensor's whole block counts as `category`: a gradient that backward made, once
/// it is kept. Nothing for memory that is not counted. Not while another thread does the same.
void recategorize(const at::Tensor& tensor, Category category);

}  // namespace brigade::tensor
