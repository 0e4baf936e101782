// SPDX-License-Identifier: Apache-2.0
/// Trace: which planned ops a rank ran inside the call under way, for ranks to compare (jit.h).
///
///   const Trace::Call call(program.trace());
///   ... ops ...
///   call.ops();   // those since `call` began, in order
///
/// Cost:          outside of a call one comparison per op, inside one word.
/// Thread safety: belongs to its program's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace brigade::tensor {

/// An op as ranks compare it: equal on two ranks exactly if they planned the same.
struct TracedOp {
  uint64_t hash = 0;
  std::string text;  ///< "einsum f32[8@x,4], f32[4,2] -> f32[8@x,2]"
};

class Trace {
 public:
  /// A call that is traced while it lives; calls nest.
  class Call {
   public:
    explicit Call(Trace& trace) : trace_(trace), first_(trace.ops_.size()) { ++trace.calls_; }
    ~Call() {
      --trace_.calls_;
      if (trace_.calls_ == 0) {
        trace_.ops_.clear();
      }
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    std::span<const TracedOp* const> ops() const {
      return std::span<const TracedOp* const>(trace_.ops_).subspan(first_);
    }

   private:
    Trace& trace_;
    size_t first_;
  };

  /// `op` lives as long as the program.
  void note(const TracedOp& op) {
    if (calls_ > 0) {
      ops_.push_back(&op);
    }
  }

 private:
  int64_t calls_ = 0;
  std::vector<const TracedOp*> ops_;
};

}  // namespace brigade::tensor
