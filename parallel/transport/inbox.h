// SPDX-License-Identifier: Apache-2.0
/// Inbox: takes one connection's bytes apart and puts messages where they belong. Sans-I/O.
///
///   inbox.prepare(buffers);
///   inbox.take(read(buffers), arrivals, controls);
///
/// The payload of a message whose receive is posted is read straight into the receive's memory. A
/// short message that nobody has asked for yet is kept; a long one is an error of the peer's, which
/// has to wait until told that the receive is ready.
///
/// Thread safety: unsafe; the endpoint's lock guards it. What prepare() returned stays valid until
/// take(), also without the lock.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "parallel/base/result.h"
#include "parallel/transport/endpoint.h"
#include "parallel/transport/frame.h"
#include "parallel/transport/spans.h"

namespace brigade::transport {

class Inbox {
 public:
  /// Read ahead of the messages that they belong to.
  static constexpr size_t kStageBytes = 16384;

  /// `count` outlives it.
  explicit Inbox(BufferCount& count)
      : count_(count), stage_memory_(count, kStageBytes), stage_(stage_memory_.span()) {}

  /// A receive that ended, and how.
  struct Arrival {
    Transfer* transfer = nullptr;
    Transfer::State state = Transfer::State::kDone;
  };
  struct Control {
    Frame frame;
    std::vector<std::byte> payload;
  };

  /// May end the receive at once. True if the peer must be told that it is ready.
  bool post(Transfer& receive, std::vector<Arrival>& arrivals);

  void prepare(Spans& buffers);
  Result<void> take(size_t bytes, std::vector<Arrival>& arrivals, std::vector<Control>& controls);

  /// Forgets `receive`; what still comes for it is thrown away. Not between prepare() and take().
  void withdraw(Transfer& receive);

 private:
  /// A message that came before its receive.
  struct Early {
    Frame frame;
    CountedBytes bytes;
    bool complete = false;
    Transfer* claimed = nullptr;
  };
  using EarlyQueue = std::deque<std::unique_ptr<Early>>;

  Result<void> begin(const Frame& frame, std::vector<Arrival>& arrivals);
  Result<void> begin_message(const Frame& frame, std::vector<Arrival>& arrivals);
  void finish(std::vector<Arrival>& arrivals, std::vector<Control>& controls);
  void finish_early(std::vector<Arrival>& arrivals);
  void place(ConstSpan bytes);
  void skip_placed(size_t bytes);
  Early* unclaimed(const Key& key);
  void forget(const Early& early);

  static constexpr size_t kTailBytes = 4096;  // read along behind a payload: mostly the next header

  BufferCount& count_;
  CountedBytes stage_memory_;
  const Span stage_;
  size_t staged_ = 0;

  bool in_payload_ = false;
  Frame frame_;
  size_t missing_ = 0;              // bytes of the payload
  Spans pieces_;                    // where they go; none: away
  size_t piece_ = 0;                // the first one that is not full
  size_t piece_filled_ = 0;         // of it
  Transfer* target_ = nullptr;      // the receive that pieces_ belong to
  Early* early_ = nullptr;          // or the early message
  std::vector<std::byte> control_;  // or the control frame's payload
  CountedBytes waste_;

  std::unordered_map<Key, std::deque<Transfer*>, KeyHash> receives_;
  std::unordered_map<Key, EarlyQueue, KeyHash> earlies_;
};

}  // namespace brigade::transport
