// SPDX-License-Identifier: Apache-2.0
/// Communicator: an ordered group of ranks and its collectives. The seam behind which engines live:
/// our own transport here; MPI, NCCL and a recorder beside it.
///
///   Work work = group.all_reduce(bytes_of(gradient), DType::kFloat32, ReduceOp::kSum);
///   ... compute ...
///   if (Result<void> done = work.wait(); !done) return fail(done.error());
///
/// Collective:    every member calls the same operations with the same sizes, types and ops in the
///                same order; a header per operation is compared before user memory is touched, and
///                a difference is kMismatch on all members.
/// Order:         posting never blocks. Operations of one group complete in an order of the
///                engine's own; wait() for each.
/// Sums:          along the fixed binary tree over the rank index (parallel/base/binary_tree.h), so
///                results depend on neither arrival, chunking nor engine, and all members hold
///                identical bits. fp32 and bf16 terms add in fp32 (one rounding to the wire type),
///                fp64 in fp64, integers exactly. There is no average (law 3).
/// Buffers:       borrowed from post to completion: all in `Spans` may be read and written until
///                wait() returns. Pass `keep` to have the Work own what backs them. A Work
///                completes only when no peer will touch them again.
/// Deadlines:     every Work has one, set_timeout() from its posting on. Past it: kTimeout naming
///                who was waited for.
/// Errors:        kMismatch, kPeerLost, kTimeout, kAborted. After any of them the whole world is
///                dead: every later call fails with the same origin. Nothing is retried.
/// Cost:          for p ranks and S bytes, sent per rank: reduce_scatter and all_gather S(p-1)/p,
///                all_reduce 2S(p-1)/p (up to 8 KiB: S(p-1), in one step).
/// Group of one:  legal; every operation is a local copy or nothing at all.
/// Thread safety: a communicator belongs to one thread; distinct ones may be used by distinct
///                threads.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "parallel/base/dtype.h"
#include "parallel/base/result.h"

namespace brigade::collective {

enum class ReduceOp : uint8_t { kSum, kMax, kMin };

using Span = std::span<std::byte>;
using ConstSpan = std::span<const std::byte>;
/// Pieces that are sent or filled as if they were one; empty pieces are legal.
using Spans = std::vector<Span>;
using ConstSpans = std::vector<ConstSpan>;
/// Whatever backs the spans; released when the operation no longer needs it.
using Keep = std::shared_ptr<const void>;

/// Names a point-to-point message within a group: (stage, microbatch, direction) for a pipeline.
/// Messages with equal tag between two ranks match in posting order.
using Tag = uint64_t;

/// A posted operation. Move-only. Destroying one that is pending aborts its group and waits until
/// no reader is left.
class Work {
 public:
  /// The engine's side of a pending operation.
  class Pending {
   public:
    virtual ~Pending() = default;
    /// Progresses posted work without blocking; true once complete or failed.
    virtual bool poll() = 0;
    virtual Result<void> wait() = 0;
  };

  Work() = default;  // complete
  explicit Work(std::unique_ptr<Pending> pending) : pending_(std::move(pending)) {}

  [[nodiscard]] bool done() { return pending_ == nullptr || pending_->poll(); }
  /// Blocks until complete, failed or past the deadline. May be called again; then returns at once,
  /// the same.
  [[nodiscard]] Result<void> wait() {
    return pending_ == nullptr ? Result<void>{} : pending_->wait();
  }

 private:
  std::unique_ptr<Pending> pending_;
};

class Communicator {
 public:
  virtual ~Communicator() = default;
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  virtual int rank() const = 0;  ///< index in the group
  virtual int size() const = 0;
  virtual const std::string& name() const = 0;              ///< "dp_shard#3", for messages
  virtual const std::vector<int64_t>& members() const = 0;  ///< world ranks, by index
  virtual void set_timeout(std::chrono::milliseconds timeout) = 0;

  /// Every member ends with the reduction of all members' `buffer`, element by element.
  [[nodiscard]] virtual Work all_reduce(Spans buffer, DType dtype, ReduceOp op, Keep keep = {}) = 0;

  /// Member d ends with the reduction of every member's `terms[d]` in `result`. `terms[d]` has as
  /// many bytes on all members as `result` on member d; sizes may differ between members and be 0.
  /// `result` may be `terms[rank()]` itself.
  [[nodiscard]] virtual Work reduce_scatter(
      std::vector<ConstSpans> terms, Spans result, DType dtype, ReduceOp op, Keep keep = {}) = 0;

  /// Every member ends with member d's `mine` in `parts[d]`. `mine` may be `parts[rank()]` itself.
  [[nodiscard]] virtual Work all_gather(ConstSpans mine,
                                        std::vector<Spans> parts,
                                        Keep keep = {}) = 0;

  /// Member `root`'s buffer, to all.
  [[nodiscard]] virtual Work broadcast(Spans buffer, int root, Keep keep = {}) = 0;

  /// `to[d]` arrives as member d's `from[rank()]`. The two may not overlap.
  [[nodiscard]] virtual Work all_to_all(std::vector<ConstSpans> to,
                                        std::vector<Spans> from,
                                        Keep keep = {}) = 0;

  /// Completes when the buffer may be reused; needs no matching receive to have been posted.
  [[nodiscard]] virtual Work send(ConstSpans buffer, int peer, Tag tag, Keep keep = {}) = 0;
  [[nodiscard]] virtual Work receive(Spans buffer, int peer, Tag tag, Keep keep = {}) = 0;

  /// Completes on no member before every member has called it.
  [[nodiscard]] virtual Work barrier() = 0;

  /// Payload bytes that this member has sent to others so far; the transport's own count, not the
  /// ledger's.
  virtual int64_t bytes_sent() const = 0;
};

/// The bytes of a trivially copyable range.
template <class T>
Span bytes_of(std::span<T> values) {
  return std::as_writable_bytes(values);
}

}  // namespace brigade::collective
