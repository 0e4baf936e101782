// SPDX-License-Identifier: Apache-2.0
#include "parallel/transport/tcp_endpoint.h"

#include <algorithm>
#include <sched.h>
#include <utility>

#include "parallel/base/check.h"
#include "parallel/base/text.h"

namespace brigade::transport {
namespace {

constexpr int kYields = 20;  // before a waiting thread sleeps

}  // namespace

TcpEndpoint::TcpEndpoint(std::unique_ptr<asio::io_context> io,
                         int64_t rank,
                         std::vector<std::optional<tcp::socket>> sockets)
    : io_(std::move(io)), work_(io_->get_executor()), timer_(*io_), rank_(rank) {
  for (size_t r = 0; r < sockets.size(); ++r) {
    const bool self = static_cast<int64_t>(r) == rank;
    BRIGADE_CHECK(self != sockets[r].has_value(), r, rank);
    peers_.push_back(
        self ? nullptr
             : std::make_unique<Peer>(static_cast<int64_t>(r), std::move(*sockets[r]), buffers_));
  }
  for_peers([this](Peer& each) {
    SocketError ignored;
    each.socket.non_blocking(true, ignored);
    arm_read(each);
  });
  arm_heartbeat();
  thread_ = std::thread([this] { run(); });
}

TcpEndpoint::~TcpEndpoint() {
  vanish();
}

void TcpEndpoint::post(Transfer& transfer) {
  MutexLock lock(mutex_);
  transfer.state.store(Transfer::State::kPending, std::memory_order_relaxed);
  if (failure_) {
    return;
  }
  Peer& to = peer(transfer.peer);
  if (transfer.sending) {
    if (to.writable) {
      to.outbox.post(transfer);
      to.posted = true;
    }
    return;
  }
  std::vector<Inbox::Arrival> arrivals;
  if (to.inbox.post(transfer, arrivals) && to.writable) {
    Frame ready;
    ready.type = FrameType::kReady;
    ready.key = transfer.key;
    to.outbox.post(ready, {});
    to.posted = true;
  }
  settle(arrivals);
}

void TcpEndpoint::flush() {
  Lock lock(mutex_);
  for_peers([&](Peer& each) {
    if (std::exchange(each.posted, false)) {
      write_inline(each, lock);
    }
  });
}

void TcpEndpoint::detach(Transfer& send) {
  Lock lock(mutex_);
  Peer& to = peer(send.peer);
  watch(lock, TimePoint::max(), [&] { return !to.writing; });
  if (!failure_ && send.pending() && to.outbox.detach(send)) {
    settle(send, Transfer::State::kDone);
  }
}

void TcpEndpoint::cancel(Transfer& transfer) {
  Lock lock(mutex_);
  Peer& other = peer(transfer.peer);
  watch(
      lock, TimePoint::max(), [&] { return !(transfer.sending ? other.writing : other.reading); });
  if (transfer.sending) {
    other.outbox.withdraw(transfer);
  } else {
    other.inbox.withdraw(transfer);
  }
  if (transfer.pending()) {
    transfer.state.store(Transfer::State::kIdle, std::memory_order_release);
  }
}

void TcpEndpoint::wait_for_change(uint64_t seen, TimePoint deadline) {
  for (int i = 0; i < kYields; ++i) {
    if (changes() != seen) {
      return;
    }
    sched_yield();
  }
  Lock lock(mutex_);
  ++waiters_;
  changed_.wait_until(lock, deadline, [&] { return changes() != seen; });
  --waiters_;
}

void TcpEndpoint::wake() {
  MutexLock lock(mutex_);
  note();
}

void TcpEndpoint::note() {
  changes_.fetch_add(1, std::memory_order_release);
  if (waiters_ + watchers_ > 0) {
    changed_.notify_all();
  }
}

void TcpEndpoint::settle(Transfer& transfer, Transfer::State state) {
  Completion& completion = *transfer.completion;
  transfer.state.store(state, std::memory_order_release);
  // Last access to the transfer: its owner may go on the moment the completion says so.
  const bool done = state == Transfer::State::kDone && completion.arrive();
  if (done || state == Transfer::State::kMismatch) {
    note();
  }
}

void TcpEndpoint::settle(const std::vector<Inbox::Arrival>& arrivals) {
  for (const Inbox::Arrival& arrival : arrivals) {
    settle(*arrival.transfer, arrival.state);
  }
}

void TcpEndpoint::abort(Error error) {
  Lock lock(mutex_);
  fail_with(std::move(error));
  for_peers([&](Peer& each) { write_inline(each, lock); });
}

void TcpEndpoint::fail_with(Error error) {
  if (failure_) {
    return;
  }
  failure_ = std::move(error);
  if (closed_) {
    note();
    return;  // this rank has left: what goes wrong now is nobody else's business
  }
  Frame frame;
  frame.type = FrameType::kAbort;
  frame.fingerprint.operation = static_cast<uint8_t>(failure_->code);
  frame.fingerprint.root = failure_->origin_rank;
  for_peers([&](Peer& each) {
    if (!each.writing) {
      each.outbox.clear();  // else its writer does so when it comes back
    }
    if (each.writable) {
      each.outbox.post(frame, text_payload(frame.type, failure_->text));
      kick(each);
    }
  });
  note();
}

std::optional<Error> TcpEndpoint::failure() const {
  MutexLock lock(mutex_);
  return failure_;
}

bool TcpEndpoint::departed(int64_t rank) const {
  MutexLock lock(mutex_);
  return rank != rank_ && peer(rank).departed;
}

void TcpEndpoint::set_activity(Activity activity) {
  MutexLock lock(mutex_);
  activity_ = std::move(activity);
}

bool TcpEndpoint::silent(int64_t rank, TimePoint now) const {
  return rank != rank_ && now - peer(rank).heard > kSilence;
}

Suspect TcpEndpoint::suspect(const std::vector<int64_t>& candidates) const {
  MutexLock lock(mutex_);
  const TimePoint now = Clock::now();
  const auto waiting_for = [&](int64_t rank) {
    return rank == rank_ ? activity_.waiting_for : peer(rank).activity.waiting_for;
  };
  const int64_t rank = follow_waits(
      candidates, size(), [&](int64_t each) { return silent(each, now); }, waiting_for);
  if (silent(rank, now)) {
    const auto quiet =
        std::chrono::duration_cast<std::chrono::milliseconds>(now - peer(rank).heard).count();
    return {rank, concat("has been silent for ", quiet, " ms: stopped, or its host is gone")};
  }
  if (waiting_for(rank) < 0) {
    return {rank, "is alive but has not called it"};
  }
  const Activity& activity = rank == rank_ ? activity_ : peer(rank).activity;
  return {rank, concat("waits for rank ", activity.waiting_for, " in ", activity.what)};
}

}  // namespace brigade::transport
