// SPDX-License-Identifier: Apache-2.0
#include "parallel/transport/in_process.h"

#include <algorithm>
#include <deque>
#include <sched.h>
#include <unordered_map>
#include <utility>

#include "parallel/base/check.h"
#include "parallel/base/mutex.h"
#include "parallel/base/text.h"

namespace brigade::transport {
namespace {

constexpr int kYields = 20;  // before a waiting thread sleeps: cheaper than a futex, kind to others

struct Route {
  int64_t sender = 0;
  int64_t receiver = 0;
  Key key;

  bool operator==(const Route&) const = default;
};

struct RouteHash {
  size_t operator()(const Route& route) const noexcept {
    return KeyHash{}(route.key) * 31 +
           static_cast<size_t>(route.sender * 65537 + route.receiver * 257);
  }
};

/// A message whose sender went on: it owns its bytes.
struct Detached {
  Transfer transfer;
  Completion nobody;
  CountedBytes bytes;
};

struct Slot {
  std::deque<Transfer*> sends;
  std::deque<Transfer*> receives;
};

/// What the ranks share. Owned by all endpoints together, since any of them may go first.
class Hub {
 public:
  explicit Hub(int64_t size) : seats_(static_cast<size_t>(size)) {}

  int64_t size() const { return static_cast<int64_t>(seats_.size()); }
  BufferCount& buffers(int64_t rank) { return seat(rank).buffers; }
  void post(int64_t rank, Transfer& transfer);
  void detach(int64_t rank, Transfer& send);
  void cancel(int64_t rank, Transfer& transfer);
  uint64_t changes(int64_t rank) const {
    return seat(rank).changes.load(std::memory_order_acquire);
  }
  void wait_for_change(int64_t rank, uint64_t seen, TimePoint deadline);
  void wake(int64_t rank);
  void abort(int64_t rank, Error error);
  std::optional<Error> failure(int64_t rank) const;
  bool departed(int64_t rank) const;
  int64_t departures() const { return departures_.load(std::memory_order_acquire); }
  void set_activity(int64_t rank, Activity activity);
  Suspect suspect(const std::vector<int64_t>& candidates) const;
  void leave(int64_t rank);
  void die(int64_t rank);

 private:
  struct Seat {
    std::atomic<uint64_t> changes = 0;
    ConditionVariable changed;
    bool left = false;
    Activity activity;
    BufferCount buffers;
  };

  Seat& seat(int64_t rank) { return seats_[static_cast<size_t>(rank)]; }
  const Seat& seat(int64_t rank) const { return seats_[static_cast<size_t>(rank)]; }
  static Route route_of(int64_t rank, const Transfer& transfer);
  static bool fits(const Transfer& send, Transfer& receive);
  bool withdraw(int64_t rank, Transfer& transfer) BRIGADE_REQUIRES(mutex_);
  void move(Transfer& send, Transfer& receive, std::unique_lock<Mutex>& lock);
  void settle(int64_t rank, Transfer& transfer, Transfer::State state) BRIGADE_REQUIRES(mutex_);
  void note(int64_t rank) BRIGADE_REQUIRES(mutex_);
  void note_all() BRIGADE_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::vector<Seat> seats_;
  std::atomic<int64_t> departures_ = 0;
  std::unordered_map<Route, Slot, RouteHash> slots_ BRIGADE_GUARDED_BY(mutex_);
  std::unordered_map<Transfer*, std::unique_ptr<Detached>> detached_ BRIGADE_GUARDED_BY(mutex_);
  std::optional<Error> failure_ BRIGADE_GUARDED_BY(mutex_);
  int64_t failed_by_ BRIGADE_GUARDED_BY(mutex_) = -1;
};

Route Hub::route_of(int64_t rank, const Transfer& transfer) {
  return transfer.sending ? Route{rank, transfer.peer, transfer.key}
                          : Route{transfer.peer, rank, transfer.key};
}

bool Hub::fits(const Transfer& send, Transfer& receive) {
  if (send.bytes == receive.bytes && send.fingerprint == receive.fingerprint) {
    return true;
  }
  receive.found = send.fingerprint;
  receive.found_bytes = send.bytes;
  return false;
}

void Hub::note(int64_t rank) {
  Seat& woken = seat(rank);
  woken.changes.fetch_add(1, std::memory_order_release);
  woken.changed.notify_all();
}

void Hub::note_all() {
  for (int64_t rank = 0; rank < size(); ++rank) {
    note(rank);
  }
}

void Hub::settle(int64_t rank, Transfer& transfer, Transfer::State state) {
  transfer.busy = false;
  const auto detached = detached_.find(&transfer);
  if (detached != detached_.end()) {
    detached_.erase(detached);
    return;
  }
  Completion& completion = *transfer.completion;
  transfer.state.store(state, std::memory_order_release);
  // Last access to the transfer: its owner may go on the moment the completion says so.
  const bool done = state == Transfer::State::kDone && completion.arrive();
  if (done || state == Transfer::State::kMismatch) {
    note(rank);
  }
}

void Hub::move(Transfer& send, Transfer& receive, std::unique_lock<Mutex>& lock) {
  const int64_t sender = receive.peer;
  const int64_t receiver = send.peer;
  Transfer::State outcome = Transfer::State::kMismatch;
  if (fits(send, receive)) {
    outcome = Transfer::State::kDone;
    send.busy = true;
    receive.busy = true;
    lock.unlock();
    copy(send.source, receive.target);
    lock.lock();
  }
  settle(sender, send, Transfer::State::kDone);
  settle(receiver, receive, outcome);
  if (failure_) {
    note(sender);  // a cancel() may wait for the end of this copy
    note(receiver);
  }
}

void Hub::post(int64_t rank, Transfer& transfer) {
  std::unique_lock<Mutex> lock(mutex_);
  transfer.state.store(Transfer::State::kPending, std::memory_order_relaxed);
  if (failure_) {
    return;
  }
  const Route route = route_of(rank, transfer);
  Slot& slot = slots_[route];
  std::deque<Transfer*>& others = transfer.sending ? slot.receives : slot.sends;
  if (others.empty()) {
    (transfer.sending ? slot.sends : slot.receives).push_back(&transfer);
    return;
  }
  Transfer& other = *others.front();
  others.pop_front();
  if (slot.sends.empty() && slot.receives.empty()) {
    slots_.erase(route);
  }
  transfer.sending ? move(transfer, other, lock) : move(other, transfer, lock);
}

bool Hub::withdraw(int64_t rank, Transfer& transfer) {
  const auto slot = slots_.find(route_of(rank, transfer));
  if (slot == slots_.end()) {
    return false;
  }
  std::deque<Transfer*>& queue = transfer.sending ? slot->second.sends : slot->second.receives;
  const auto place = std::find(queue.begin(), queue.end(), &transfer);
  if (place == queue.end()) {
    return false;
  }
  queue.erase(place);
  return true;
}

void Hub::detach(int64_t rank, Transfer& send) {
  MutexLock lock(mutex_);
  const auto slot = slots_.find(route_of(rank, send));
  if (failure_ || slot == slots_.end()) {
    return;
  }
  std::deque<Transfer*>& queue = slot->second.sends;
  const auto place = std::find(queue.begin(), queue.end(), &send);
  if (place == queue.end()) {
    return;
  }
  auto copied = std::make_unique<Detached>();
  copied->bytes = CountedBytes(buffers(rank), static_cast<size_t>(send.bytes));
  copy(send.source, {copied->bytes.span()});
  copied->transfer.sending = true;
  copied->transfer.peer = send.peer;
  copied->transfer.key = send.key;
  copied->transfer.fingerprint = send.fingerprint;
  copied->transfer.bytes = send.bytes;
  copied->transfer.source = {copied->bytes.span()};
  *place = &copied->transfer;
  detached_.emplace(&copied->transfer, std::move(copied));
  settle(rank, send, Transfer::State::kDone);
}

void Hub::cancel(int64_t rank, Transfer& transfer) {
  std::unique_lock<Mutex> lock(mutex_);
  withdraw(rank, transfer);
  while (transfer.busy) {
    seat(rank).changed.wait(lock);
  }
  if (transfer.pending()) {
    transfer.state.store(Transfer::State::kIdle, std::memory_order_release);
  }
}

void Hub::wait_for_change(int64_t rank, uint64_t seen, TimePoint deadline) {
  for (int i = 0; i < kYields; ++i) {
    if (changes(rank) != seen) {
      return;
    }
    sched_yield();
  }
  std::unique_lock<Mutex> lock(mutex_);
  seat(rank).changed.wait_until(lock, deadline, [&] { return changes(rank) != seen; });
}

void Hub::wake(int64_t rank) {
  MutexLock lock(mutex_);
  note(rank);
}

void Hub::abort(int64_t rank, Error error) {
  MutexLock lock(mutex_);
  if (!failure_) {
    failure_ = std::move(error);
    failed_by_ = rank;
    note_all();
  }
}

std::optional<Error> Hub::failure(int64_t rank) const {
  MutexLock lock(mutex_);
  if (!failure_ || rank == failed_by_) {
    return failure_;
  }
  return as_seen_by_others(*failure_);
}

bool Hub::departed(int64_t rank) const {
  MutexLock lock(mutex_);
  return seat(rank).left;
}

void Hub::set_activity(int64_t rank, Activity activity) {
  MutexLock lock(mutex_);
  seat(rank).activity = std::move(activity);
}

Suspect Hub::suspect(const std::vector<int64_t>& candidates) const {
  MutexLock lock(mutex_);
  const auto waiting_for = [&](int64_t rank) { return seat(rank).activity.waiting_for; };
  const auto silent = [](int64_t /*rank*/) { return false; };  // threads die with their process
  const int64_t rank = follow_waits(candidates, size(), silent, waiting_for);
  const Activity& activity = seat(rank).activity;
  if (activity.waiting_for < 0) {
    return {rank, "is alive but has not called it"};
  }
  return {rank, concat("waits for rank ", activity.waiting_for, " in ", activity.what)};
}

void Hub::leave(int64_t rank) {
  MutexLock lock(mutex_);
  seat(rank).left = true;
  departures_.fetch_add(1, std::memory_order_release);
  note_all();
}

void Hub::die(int64_t rank) {
  MutexLock lock(mutex_);
  if (seat(rank).left || failure_) {
    return;
  }
  failure_ = Error{ErrorCode::kPeerLost,
                   concat("rank ", rank, " is gone: its world was destroyed without a goodbye"),
                   static_cast<int>(rank)};
  failed_by_ = rank;
  note_all();
}

class InProcessEndpoint final : public Endpoint {
 public:
  InProcessEndpoint(std::shared_ptr<Hub> hub, int64_t rank) : hub_(std::move(hub)), rank_(rank) {}
  ~InProcessEndpoint() override { hub_->die(rank_); }

  int64_t rank() const override { return rank_; }
  int64_t size() const override { return hub_->size(); }
  BufferCount& buffers() override { return hub_->buffers(rank_); }
  void post(Transfer& transfer) override { hub_->post(rank_, transfer); }
  void flush() override {}
  void detach(Transfer& send) override { hub_->detach(rank_, send); }
  void cancel(Transfer& transfer) override { hub_->cancel(rank_, transfer); }
  uint64_t changes() const override { return hub_->changes(rank_); }
  void wait_for_change(uint64_t seen, TimePoint deadline) override {
    hub_->wait_for_change(rank_, seen, deadline);
  }
  void wake() override { hub_->wake(rank_); }
  void abort(Error error) override { hub_->abort(rank_, std::move(error)); }
  std::optional<Error> failure() const override { return hub_->failure(rank_); }
  bool departed(int64_t peer) const override { return hub_->departed(peer); }
  int64_t departures() const override { return hub_->departures(); }
  void set_activity(Activity activity) override { hub_->set_activity(rank_, std::move(activity)); }
  Suspect suspect(const std::vector<int64_t>& candidates) const override {
    return hub_->suspect(candidates);
  }
  void close() override { hub_->leave(rank_); }
  void vanish() override { hub_->die(rank_); }

 private:
  std::shared_ptr<Hub> hub_;
  int64_t rank_;
};

}  // namespace

std::vector<std::unique_ptr<Endpoint>> in_process_endpoints(int64_t size) {
  BRIGADE_CHECK(size >= 1, size);
  auto hub = std::make_shared<Hub>(size);
  std::vector<std::unique_ptr<Endpoint>> endpoints;
  for (int64_t rank = 0; rank < size; ++rank) {
    endpoints.push_back(std::make_unique<InProcessEndpoint>(hub, rank));
  }
  return endpoints;
}

}  // namespace brigade::transport
