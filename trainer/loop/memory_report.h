// SPDX-License-Identifier: Apache-2.0
/// MemoryReport: what a rank's tensors and messages took in a run, step by step, and all ranks'
/// numbers together at its end.
///
///   MemoryReport memory(world);              // before the rank allocates anything
///   ... make the trainer ...
///   memory.hold(Category::kOptimizerStates, trainer->optimizer_bytes());
///   memory.begin_steps();
///   ... each step ...; int64_t most = memory.end_step();
///   Result<std::vector<MeasuredMemory>> all = memory.gather();
///
/// Thread safety: belongs to the rank's thread, whose tensors it counts while it lives.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "parallel/base/result.h"
#include "parallel/collective/world.h"
#include "parallel/tensor/memory_meter.h"

namespace brigade::loop {

/// Of one rank, over the steps of a run.
struct MeasuredMemory {
  tensor::CategoryBytes peak;  ///< the most of each category, at moments of its own
  int64_t total = 0;           ///< the most of all together

  bool operator==(const MeasuredMemory&) const = default;
};

class MemoryReport {
 public:
  /// Borrows `world`, which it also asks for what messages hold.
  explicit MemoryReport(collective::World& world);

  /// Counts memory that is no tensor's, until the end of the run.
  void hold(tensor::Category category, int64_t bytes) { meter_->add(category, bytes); }
  /// Forgets the peaks of building the trainer.
  void begin_steps() { meter_->reset_peaks(); }
  /// The most that was alive at once in the step that ends, in bytes of tensors and of hold().
  int64_t end_step();

  const MeasuredMemory& measured() const { return measured_; }
  tensor::MemoryUse now() const { return meter_->use(); }

  /// Of every rank of the world, by rank. Collective.
  /// Errors: the communicator's.
  Result<std::vector<MeasuredMemory>> gather();

 private:
  collective::World& world_;
  const std::shared_ptr<tensor::Meter> meter_;
  const tensor::MeterScope counted_;
  MeasuredMemory measured_;
};

}  // namespace brigade::loop
