// SPDX-License-Identifier: Apache-2.0
/// TcpEndpoint: an Endpoint over a full mesh of TCP connections that already stand (rendezvous.h
/// makes them).
///
/// One I/O thread owns the io_context and every socket. Posting threads write short messages
/// themselves when the connection is free, which saves a hand-over; everything else is the I/O
/// thread's. A peer that has not been heard of for kSilence counts as stopped when somebody has to
/// be blamed; a connection that ends without a goodbye is a death, and ends the world.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "parallel/base/mutex.h"
#include "parallel/transport/asio.h"
#include "parallel/transport/endpoint.h"
#include "parallel/transport/inbox.h"
#include "parallel/transport/outbox.h"

namespace brigade::transport {

class TcpEndpoint final : public Endpoint {
 public:
  static constexpr std::chrono::milliseconds kHeartbeat{250};
  static constexpr std::chrono::milliseconds kSilence{1000};

  /// `sockets[r]` is connected to rank r, for all but `rank` itself; all belong to `io`, which
  /// nobody runs any more.
  TcpEndpoint(std::unique_ptr<asio::io_context> io,
              int64_t rank,
              std::vector<std::optional<tcp::socket>> sockets);
  ~TcpEndpoint() override;

  int64_t rank() const override { return rank_; }
  int64_t size() const override { return static_cast<int64_t>(peers_.size()); }
  BufferCount& buffers() override { return buffers_; }
  void post(Transfer& transfer) override;
  void flush() override;
  void detach(Transfer& send) override;
  void cancel(Transfer& transfer) override;
  uint64_t changes() const override { return changes_.load(std::memory_order_acquire); }
  void wait_for_change(uint64_t seen, TimePoint deadline) override;
  void wake() override;
  void abort(Error error) override;
  std::optional<Error> failure() const override;
  bool departed(int64_t peer) const override;
  int64_t departures() const override { return departures_.load(std::memory_order_acquire); }
  void set_activity(Activity activity) override;
  Suspect suspect(const std::vector<int64_t>& candidates) const override;
  void close() override;
  void vanish() override;

 private:
  struct Peer {
    Peer(int64_t world_rank, tcp::socket connected, BufferCount& count)
        : rank(world_rank), socket(std::move(connected)), inbox(count), outbox(count) {}

    const int64_t rank;
    tcp::socket socket;
    Inbox inbox;
    Outbox outbox;
    bool posted = false;       // since the last flush
    bool reading = false;      // a system call fills what inbox.prepare() returned
    bool writing = false;      // a system call reads what outbox.gather() returned
    bool write_waits = false;  // until the socket takes more
    bool kicked = false;       // the I/O thread has been asked to write
    bool heartbeat_queued = false;
    bool readable = true;   // until end of stream
    bool writable = true;   // until an error, or our goodbye
    bool departed = false;  // it said goodbye
    TimePoint heard = Clock::now();
    Activity activity;
    Spans read_buffers;
    ConstSpans write_pieces;
  };
  using Lock = std::unique_lock<Mutex>;

  Peer& peer(int64_t rank) const { return *peers_[static_cast<size_t>(rank)]; }
  template <class Function>
  void for_peers(const Function& function) const;

  // The I/O thread's.
  void run();
  void arm_read(Peer& peer);
  void on_readable(Peer& peer);
  bool read_once(Peer& peer, Lock& lock, int64_t& budget);
  void arm_write(Peer& peer);
  void on_heartbeat();
  void arm_heartbeat();
  void lost(Peer& peer, const SocketError& error) BRIGADE_REQUIRES(mutex_);
  void handle(Peer& peer, const Inbox::Control& control) BRIGADE_REQUIRES(mutex_);

  // Any thread's.
  void write_inline(Peer& peer, Lock& lock);
  void write_on_io_thread(Peer& peer);
  bool write_once(Peer& peer, Lock& lock, bool urgent_only, SocketError& error);
  void kick(Peer& peer) BRIGADE_REQUIRES(mutex_);
  void settle(const std::vector<Inbox::Arrival>& arrivals) BRIGADE_REQUIRES(mutex_);
  void settle(Transfer& transfer, Transfer::State state) BRIGADE_REQUIRES(mutex_);
  void note() BRIGADE_REQUIRES(mutex_);
  template <class Condition>
  void watch(Lock& lock, TimePoint deadline, const Condition& condition);
  void fail_with(Error error) BRIGADE_REQUIRES(mutex_);
  bool silent(int64_t rank, TimePoint now) const BRIGADE_REQUIRES(mutex_);
  bool drained() const BRIGADE_REQUIRES(mutex_);
  void drain(Lock& lock, std::chrono::milliseconds patience);
  void await_delivery(std::chrono::milliseconds patience);

  const std::unique_ptr<asio::io_context> io_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  asio::steady_timer timer_;
  const int64_t rank_;

  BufferCount buffers_;
  mutable Mutex mutex_;
  std::vector<std::unique_ptr<Peer>> peers_;  // null at this rank's place
  ConditionVariable changed_;
  std::atomic<uint64_t> changes_ = 0;
  std::atomic<int64_t> departures_ = 0;
  int64_t waiters_ BRIGADE_GUARDED_BY(mutex_) = 0;   // for changes()
  int64_t watchers_ BRIGADE_GUARDED_BY(mutex_) = 0;  // for the end of a system call
  std::optional<Error> failure_ BRIGADE_GUARDED_BY(mutex_);
  Activity activity_ BRIGADE_GUARDED_BY(mutex_);
  TimePoint last_beat_ BRIGADE_GUARDED_BY(mutex_) = Clock::now();
  bool closed_ BRIGADE_GUARDED_BY(mutex_) = false;
  bool gone_ = false;  // of the owning thread
  std::thread thread_;
};

template <class Condition>
void TcpEndpoint::watch(Lock& lock, TimePoint deadline, const Condition& condition) {
  ++watchers_;
  changed_.wait_until(lock, deadline, condition);
  --watchers_;
}

template <class Function>
void TcpEndpoint::for_peers(const Function& function) const {
  for (const std::unique_ptr<Peer>& each : peers_) {
    if (each != nullptr) {
      function(*each);
    }
  }
}

}  // namespace brigade::transport
