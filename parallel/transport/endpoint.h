// SPDX-License-Identifier: Apache-2.0
/// Endpoint: one rank's door to all the others. Moves keyed messages between spans of memory, and
/// carries the failure of the world.
///
///   Completion arrived(1);
///   Transfer receive = Transfer::receive(peer, key, fingerprint, spans, arrived);
///   endpoint.post(receive);
///   endpoint.flush();
///   while (!arrived.zero()) endpoint.wait_for_change(seen, deadline);
///
/// Implementations: in-process links (in_process.h), TCP (tcp_endpoint.h).
///
/// Matching:      a receive takes the message with its key from its peer. Length and fingerprint
///                are compared first; a message that differs marks the receive kMismatch, shows
///                what it found, and leaves the memory alone.
/// Posting:       never blocks. A send needs no posted receive: see kEagerBytes and detach().
/// Ownership:     a Transfer and its memory stay put from post() until it is no longer pending or
///                cancel() returned.
/// Failure:       once failed, nothing moves any more; pending transfers stay pending until
///                cancelled.
/// Thread safety: safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parallel/base/result.h"
#include "parallel/transport/buffer_count.h"
#include "parallel/transport/message.h"
#include "parallel/transport/spans.h"

namespace brigade::transport {

using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;

/// How many transfers of a batch are still pending. Its waiters are woken when none is left, not
/// for each one.
class Completion {
 public:
  explicit Completion(int32_t count = 0) : left_(count) {}

  bool zero() const { return left_.load(std::memory_order_acquire) == 0; }
  void expect(int32_t more) { left_.fetch_add(more, std::memory_order_relaxed); }

  /// True for the last one.
  bool arrive() { return left_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

 private:
  std::atomic<int32_t> left_;
};

struct Transfer {
  enum class State : uint8_t { kIdle, kPending, kDone, kMismatch };

  bool pending() const { return state.load(std::memory_order_acquire) == State::kPending; }
  bool mismatched() const { return state.load(std::memory_order_acquire) == State::kMismatch; }

  static Transfer send(int64_t peer, Key key, Fingerprint print, ConstSpans from, Completion& to);
  static Transfer receive(int64_t peer, Key key, Fingerprint print, Spans into, Completion& to);

  Transfer() = default;
  ~Transfer() = default;
  Transfer(Transfer&& other) noexcept;  // only before it is posted
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  Transfer& operator=(Transfer&&) = delete;

  bool sending = false;
  int64_t peer = -1;
  Key key;
  Fingerprint fingerprint;
  ConstSpans source;  // of a send
  Spans target;       // of a receive
  int64_t bytes = 0;
  Completion* completion = nullptr;
  std::atomic<State> state = State::kIdle;
  Fingerprint found;        ///< in state kMismatch: what the peer sent instead
  int64_t found_bytes = 0;  ///< and how long it was
  bool busy = false;        ///< the endpoint's own: bytes are moving right now
};

/// What a rank does, for the messages of others.
struct Activity {
  int64_t waiting_for = -1;  ///< world rank, -1: not waiting
  std::string what;          ///< "all_reduce f32[1024] in dp#3 seq 12"
};

/// Who is to blame for a wait that got too long.
struct Suspect {
  int64_t rank = -1;
  std::string why;  ///< "has been silent for 9.8 s", "is alive but has not called it"
};

class Endpoint {
 public:
  virtual ~Endpoint() = default;
  Endpoint() = default;
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  virtual int64_t rank() const = 0;
  virtual int64_t size() const = 0;
  /// Counts the endpoint's own buffers: what it reads into, short messages that came early, copies
  /// of those whose sender went on. Others may count theirs here too.
  virtual BufferCount& buffers() = 0;

  virtual void post(Transfer& transfer) = 0;
  /// Sets what was posted in motion; call it after a batch of post().
  virtual void flush() = 0;

  /// Copies what a pending send has not yet moved, so that the send is done and its memory free.
  virtual void detach(Transfer& send) = 0;
  /// Returns once the endpoint will never touch the transfer or its memory again. Bounded; after a
  /// failure only.
  virtual void cancel(Transfer& transfer) = 0;

  /// A number that grows whenever a completion reached zero, a mismatch was found, a peer left or
  /// the world failed.
  virtual uint64_t changes() const = 0;
  /// Blocks until changes() differs from `seen`, at most until `deadline`.
  virtual void wait_for_change(uint64_t seen, TimePoint deadline) = 0;
  /// Makes changes() grow.
  virtual void wake() = 0;

  /// The first failure wins; `error.origin_rank` must be set. Told to all ranks; others see
  /// kAborted unless the code is one that all share (kMismatch, kPeerLost, kTimeout).
  virtual void abort(Error error) = 0;
  virtual std::optional<Error> failure() const = 0;

  /// True if `peer` said goodbye: nothing more will come from it, and it takes nothing.
  virtual bool departed(int64_t peer) const = 0;
  /// How many did. Cheap.
  virtual int64_t departures() const = 0;
  virtual void set_activity(Activity activity) = 0;
  /// Of `candidates` (not empty) and those they wait for in turn, the one to blame.
  virtual Suspect suspect(const std::vector<int64_t>& candidates) const = 0;

  /// Waits until what was sent has left, then says goodbye.
  virtual void close() = 0;
  /// Leaves at once. Without a close() before, the others take it for a death.
  virtual void vanish() = 0;
};

/// `error` as ranks other than its origin see it.
Error as_seen_by_others(Error error);

/// Follows "who waits for whom" from each candidate to the end; a rank for which `silent` holds is
/// taken first.
template <class Silent, class WaitingFor>
int64_t follow_waits(const std::vector<int64_t>& candidates,
                     int64_t size,
                     const Silent& silent,
                     const WaitingFor& waiting_for) {
  for (const int64_t candidate : candidates) {
    if (silent(candidate)) {
      return candidate;
    }
  }
  int64_t idle = -1;
  for (const int64_t candidate : candidates) {
    int64_t at = candidate;
    for (int64_t steps = 0; steps < size && waiting_for(at) >= 0; ++steps) {
      at = waiting_for(at);
      if (silent(at)) {
        return at;
      }
    }
    if (idle < 0 && waiting_for(at) < 0) {
      idle = at;
    }
  }
  return idle >= 0 ? idle : candidates.front();
}

}  // namespace brigade::transport
