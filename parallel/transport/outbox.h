// SPDX-License-Identifier: Apache-2.0
/// Outbox: what waits to be written to one connection. Sans-I/O.
///
///   outbox.gather(pieces, false);
///   outbox.sent(write(pieces), done);   // transfers whose memory is free now
///
/// Order: control frames and short messages go before long ones; long ones wait until the peer says
/// that it is ready. A frame that has begun is always finished. Messages with equal keys keep their
/// order, because equal keys go with equal lengths.
///
/// Thread safety: unsafe; the endpoint's lock guards it. What gather() returned stays valid until
/// sent(), also without the lock.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "parallel/transport/endpoint.h"
#include "parallel/transport/frame.h"
#include "parallel/transport/spans.h"

namespace brigade::transport {

class Outbox {
 public:
  /// `count` outlives it.
  explicit Outbox(BufferCount& count) : count_(count) {}

  void post(Transfer& send);
  void post(const Frame& control, const std::vector<std::byte>& payload);
  /// The peer's receive for `key` is posted.
  void ready(const Key& key);

  bool has_urgent() const { return !flying_.empty() || !urgent_.empty(); }
  bool has_any() const { return has_urgent() || !bulk_.empty(); }
  /// Nothing is left, not even messages that wait for the peer.
  bool empty() const { return !has_any() && unready_.empty(); }

  /// Lists the next bytes to write, up to about 1 MiB in up to 60 pieces.
  void gather(ConstSpans& pieces, bool urgent_only);
  /// The first `bytes` of them are written.
  void sent(size_t bytes, std::vector<Transfer*>& done);

  /// Copies what is left of `send`; false if it is not here. Not between gather() and sent().
  bool detach(Transfer& send);
  /// Forgets `send`; finishes it from a copy if it has begun. Not between gather() and sent().
  void withdraw(Transfer& send);
  /// Forgets everything but the rest of a frame that has begun. Not between gather() and sent().
  void clear();

 private:
  struct Parcel {
    std::array<std::byte, kHeaderBytes> header;
    ConstSpans payload;
    size_t bytes = 0;  // header and payload
    Transfer* transfer = nullptr;
    CountedBytes owned;
  };

  static Parcel parcel_of(Transfer& send);
  void own(Parcel& parcel) const;
  Parcel* find(const Transfer& send);
  void load(bool urgent_only);

  BufferCount& count_;
  std::deque<Parcel> flying_;  // being written; the first one may have begun
  size_t begun_ = 0;           // bytes of it that are written
  size_t flying_bytes_ = 0;
  std::deque<Parcel> urgent_;
  std::deque<Parcel> bulk_;
  std::unordered_map<Key, std::deque<Parcel>, KeyHash> unready_;
  std::unordered_map<Key, int64_t, KeyHash> readiness_;  // announced, not yet used
};

}  // namespace brigade::transport
