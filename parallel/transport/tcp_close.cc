// SPDX-License-Identifier: Apache-2.0
// How a TcpEndpoint ends: draining, goodbye, and leaving at once.
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <thread>

#include "parallel/transport/tcp_endpoint.h"

namespace brigade::transport {
namespace {

constexpr std::chrono::milliseconds kDrainPatience{30'000};  // a peer may be slow to take its bytes
constexpr std::chrono::milliseconds kAbortPatience{1'000};  // a dead world's ranks do not wait long
constexpr std::chrono::milliseconds kDeliveryPatience{2'000};

/// Bytes that the peer's kernel has not acknowledged.
int undelivered(tcp::socket& socket) {
  int bytes = 0;
  return ioctl(socket.native_handle(), SIOCOUTQ, &bytes) == 0 ? bytes : 0;
}

}  // namespace

bool TcpEndpoint::drained() const {
  bool all = true;
  for_peers([&](Peer& each) {
    all = all && (each.departed || !each.writable || (each.outbox.empty() && !each.writing));
  });
  return all;
}

void TcpEndpoint::drain(Lock& lock, std::chrono::milliseconds patience) {
  watch(lock, Clock::now() + patience, [&] { return drained(); });
}

void TcpEndpoint::await_delivery(std::chrono::milliseconds patience) {
  const TimePoint limit = Clock::now() + patience;
  const auto waits = [&](Peer& each) {
    MutexLock lock(mutex_);
    return each.writable && !each.departed && undelivered(each.socket) > 0;
  };
  for_peers([&](Peer& each) {
    while (waits(each) && Clock::now() < limit) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
}

void TcpEndpoint::close() {
  {
    Lock lock(mutex_);
    if (closed_) {
      return;
    }
    const auto patience = failure_ ? kAbortPatience : kDrainPatience;
    drain(lock, patience);
    closed_ = true;
    Frame goodbye;
    goodbye.type = FrameType::kGoodbye;
    for_peers([&](Peer& each) {
      if (each.writable) {
        each.outbox.post(goodbye, {});
        kick(each);
      }
    });
    drain(lock, kAbortPatience);
  }
  await_delivery(kDeliveryPatience);
}

void TcpEndpoint::vanish() {
  if (gone_) {
    return;
  }
  gone_ = true;
  {
    Lock lock(mutex_);
    if (failure_ && !closed_) {
      drain(lock, kAbortPatience);  // the word of the failure is worth a moment
    }
    closed_ = true;
    fail_with(
        {ErrorCode::kAborted, "the world of this operation is gone", static_cast<int>(rank_)});
  }
  io_->stop();
  thread_.join();
  MutexLock lock(mutex_);
  for_peers([&](Peer& each) {
    SocketError ignored;
    each.writable = false;
    each.readable = false;
    each.outbox.clear();
    each.socket.close(ignored);
  });
}

}  // namespace brigade::transport
