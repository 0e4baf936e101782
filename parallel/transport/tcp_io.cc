// SPDX-License-Identifier: Apache-2.0
// TcpEndpoint's reading, writing and heartbeats.
#include <algorithm>
#include <pthread.h>
#include <signal.h>
#include <utility>

#include "parallel/base/text.h"
#include "parallel/transport/tcp_endpoint.h"

namespace brigade::transport {
namespace {

constexpr int64_t kReadBudget = int64_t{4} << 20;  // before another connection gets its turn

bool would_block(const SocketError& error) {
  return error == asio::error::would_block || error == asio::error::try_again ||
         error == asio::error::interrupted;
}

/// An abort from the wire: its code was checked against nothing yet.
Error error_of(const Inbox::Control& control, int64_t sender) {
  const uint8_t code = control.frame.fingerprint.operation;
  const int32_t origin = control.frame.fingerprint.root;
  Error error{code <= static_cast<uint8_t>(ErrorCode::kInternal) ? static_cast<ErrorCode>(code)
                                                                 : ErrorCode::kAborted,
              payload_text(control.payload),
              origin >= 0 ? origin : static_cast<int>(sender)};
  return as_seen_by_others(std::move(error));
}

}  // namespace

void TcpEndpoint::run() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);  // signals are the main thread's business
  io_->run();
}

void TcpEndpoint::arm_read(Peer& from) {
  from.socket.async_wait(tcp::socket::wait_read, [this, &from](const SocketError& error) {
    if (!error) {
      on_readable(from);
    }
  });
}

void TcpEndpoint::on_readable(Peer& from) {
  {
    Lock lock(mutex_);
    int64_t budget = kReadBudget;
    while (budget > 0 && read_once(from, lock, budget)) {
    }
    for_peers([&](Peer& each) {
      if (each.outbox.has_any() && !each.writing && !each.write_waits) {
        kick(each);
      }
    });
    if (!from.readable) {
      return;
    }
  }
  arm_read(from);
}

bool TcpEndpoint::read_once(Peer& from, Lock& lock, int64_t& budget) {
  from.inbox.prepare(from.read_buffers);
  size_t room = 0;
  std::vector<asio::mutable_buffer> buffers;
  for (const Span buffer : from.read_buffers) {
    buffers.emplace_back(buffer.data(), buffer.size());
    room += buffer.size();
  }
  from.reading = true;
  lock.unlock();
  SocketError error;
  const size_t bytes = from.socket.read_some(buffers, error);
  lock.lock();
  from.reading = false;
  if (watchers_ > 0) {
    changed_.notify_all();
  }
  if (error) {
    if (!would_block(error)) {
      lost(from, error);
    }
    return false;
  }
  from.heard = Clock::now();
  budget -= static_cast<int64_t>(bytes);
  std::vector<Inbox::Arrival> arrivals;
  std::vector<Inbox::Control> controls;
  const Result<void> taken = from.inbox.take(bytes, arrivals, controls);
  settle(arrivals);
  for (const Inbox::Control& control : controls) {
    handle(from, control);
  }
  if (!taken) {
    from.readable = false;
    fail_with({ErrorCode::kPeerLost,
               concat("the connection of rank ",
                      rank_,
                      " to rank ",
                      from.rank,
                      " is not usable: ",
                      taken.error().text),
               static_cast<int>(from.rank)});
    return false;
  }
  return bytes == room;  // a short read has emptied the socket
}

void TcpEndpoint::lost(Peer& from, const SocketError& error) {
  from.readable = false;
  if (from.departed || closed_) {
    return;
  }
  const std::string during =
      activity_.what.empty() ? std::string() : concat(" while it waited in ", activity_.what);
  fail_with({ErrorCode::kPeerLost,
             concat("rank ",
                    from.rank,
                    " died: its connection to rank ",
                    rank_,
                    " ended without a goodbye",
                    during,
                    " (",
                    error.message(),
                    ")"),
             static_cast<int>(from.rank)});
}

void TcpEndpoint::handle(Peer& from, const Inbox::Control& control) {
  switch (control.frame.type) {
    case FrameType::kReady: from.outbox.ready(control.frame.key); return;
    case FrameType::kHeartbeat:
      from.activity = {control.frame.fingerprint.root, payload_text(control.payload)};
      return;
    case FrameType::kAbort: fail_with(error_of(control, from.rank)); return;
    case FrameType::kGoodbye:
      from.departed = true;
      departures_.fetch_add(1, std::memory_order_release);
      note();
      return;
    case FrameType::kMessage:
    case FrameType::kHello:
    case FrameType::kAddresses:
    case FrameType::kRefusal: return;  // a greeting has no meaning any more
  }
}

bool TcpEndpoint::write_once(Peer& to, Lock& lock, bool urgent_only, SocketError& error) {
  to.outbox.gather(to.write_pieces, urgent_only);
  if (to.write_pieces.empty()) {
    return false;
  }
  std::vector<asio::const_buffer> buffers;
  for (const ConstSpan piece : to.write_pieces) {
    buffers.emplace_back(piece.data(), piece.size());
  }
  const bool failed_before = failure_.has_value();
  to.writing = true;
  lock.unlock();
  const size_t bytes = to.socket.write_some(buffers, error);
  lock.lock();
  to.writing = false;
  std::vector<Transfer*> done;
  to.outbox.sent(error ? 0 : bytes, done);
  for (Transfer* transfer : done) {
    settle(*transfer, Transfer::State::kDone);
  }
  // fail_with() left the clearing to us, and its frame with it; after a goodbye nothing follows.
  if (failure_ && !failed_before && !closed_) {
    to.outbox.clear();
    Frame frame;
    frame.type = FrameType::kAbort;
    frame.fingerprint.operation = static_cast<uint8_t>(failure_->code);
    frame.fingerprint.root = failure_->origin_rank;
    to.outbox.post(frame, text_payload(frame.type, failure_->text));
  }
  if (watchers_ > 0) {
    changed_.notify_all();
  }
  if (error && !would_block(error)) {
    to.writable = false;  // the reading side will say why
    to.outbox.clear();
    return false;
  }
  return !error;
}

void TcpEndpoint::write_inline(Peer& to, Lock& lock) {
  if (to.writing || to.write_waits || !to.writable) {
    return;
  }
  SocketError error;
  while (to.writable && !to.writing && to.outbox.has_urgent() &&
         write_once(to, lock, true, error)) {
  }
  if (to.writable && to.outbox.has_any()) {
    kick(to);
  }
}

void TcpEndpoint::kick(Peer& to) {
  if (!std::exchange(to.kicked, true)) {
    asio::post(*io_, [this, &to] { write_on_io_thread(to); });
  }
}

void TcpEndpoint::write_on_io_thread(Peer& to) {
  Lock lock(mutex_);
  to.kicked = false;
  if (to.writing || to.write_waits || !to.writable) {
    return;
  }
  SocketError error;
  const bool more = write_once(to, lock, false, error);
  if (more && to.outbox.has_any()) {
    kick(to);  // one batch per turn, so that reading gets its own
  } else if (would_block(error)) {
    to.write_waits = true;
    lock.unlock();
    arm_write(to);
  }
}

void TcpEndpoint::arm_write(Peer& to) {
  to.socket.async_wait(tcp::socket::wait_write, [this, &to](const SocketError& error) {
    {
      MutexLock lock(mutex_);
      to.write_waits = false;
    }
    if (!error) {
      write_on_io_thread(to);
    }
  });
}

void TcpEndpoint::arm_heartbeat() {
  timer_.expires_after(kHeartbeat);
  timer_.async_wait([this](const SocketError& error) {
    if (!error) {
      on_heartbeat();
      arm_heartbeat();
    }
  });
}

void TcpEndpoint::on_heartbeat() {
  MutexLock lock(mutex_);
  const TimePoint now = Clock::now();
  if (now - last_beat_ > kSilence) {
    // It was this process that was stopped; the others had no chance to be heard.
    for_peers([&](Peer& each) { each.heard = now; });
  }
  last_beat_ = now;
  if (closed_) {
    return;
  }
  Frame frame;
  frame.type = FrameType::kHeartbeat;
  frame.fingerprint.root = static_cast<int32_t>(activity_.waiting_for);
  for_peers([&](Peer& each) {
    if (each.writable && !each.departed && !each.outbox.has_urgent()) {
      each.outbox.post(frame, text_payload(frame.type, activity_.what));
      kick(each);
    }
  });
}

}  // namespace brigade::transport
