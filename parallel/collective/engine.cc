// SPDX-License-Identifier: Apache-2.0
#include "parallel/collective/engine.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "parallel/base/text.h"

namespace brigade::collective {
namespace {

using transport::Clock;
using transport::TimePoint;

constexpr std::chrono::milliseconds kSlice{50};  // longest sleep between two looks at everything
constexpr std::chrono::milliseconds kSendPatience{1};  // before a waiting sender's bytes are copied
constexpr std::chrono::milliseconds kLateWait{500};

}  // namespace

/// One posted operation, as its Work holds it.
class Engine::Ticket final : public Work::Pending {
 public:
  Ticket(std::shared_ptr<Engine> engine,
         std::unique_ptr<Operation> operation,
         std::chrono::milliseconds timeout)
      : engine_(std::move(engine)),
        operation_(std::move(operation)),
        timeout_(timeout),
        posted_(Clock::now()) {}
  ~Ticket() override { drop(); }

  bool poll() override;
  Result<void> wait() override;

 private:
  friend class Engine;

  void drop();
  /// Past it the operation is late. Whoever comes to wait after the deadline still gives the bytes
  /// that are already there a moment to be taken.
  TimePoint expiry(TimePoint now) {
    if (!first_look_) {
      first_look_ = now;
    }
    return std::max(posted_ + timeout_,
                    *first_look_ + std::min<Clock::duration>(timeout_, kLateWait));
  }

  const std::shared_ptr<Engine> engine_;
  std::unique_ptr<Operation> operation_;
  const std::chrono::milliseconds timeout_;
  const TimePoint posted_;
  std::optional<TimePoint> first_look_;
  std::optional<Result<void>> result_;
};

bool Engine::Ticket::poll() {
  MutexLock lock(engine_->mutex_);
  engine_->advance_all();
  return engine_->settle(*this);
}

Result<void> Engine::Ticket::wait() {
  transport::Endpoint& endpoint = engine_->endpoint();
  const TimePoint started = Clock::now();
  bool told = false;
  for (;;) {
    const uint64_t seen = endpoint.changes();
    TimePoint until = Clock::now();
    {
      MutexLock lock(engine_->mutex_);
      engine_->advance_all();
      if (engine_->settle(*this)) {
        break;
      }
      const TimePoint now = until;
      until = std::min(expiry(now), now + kSlice);
      if (operation_->may_detach()) {
        until = std::min(until, now + kSendPatience);
        if (now - started >= kSendPatience) {
          operation_->detach(endpoint);
          continue;
        }
      }
      if (!told && now - started >= kSlice) {
        const std::vector<int64_t> missing = operation_->waiting_for();
        endpoint.set_activity({missing.empty() ? -1 : missing.front(), operation_->text()});
        told = true;
      }
    }
    endpoint.wait_for_change(seen, until);
  }
  if (told) {
    endpoint.set_activity({});
  }
  return *result_;
}

void Engine::Ticket::drop() {
  {
    MutexLock lock(engine_->mutex_);
    if (result_) {
      return;
    }
    engine_->advance_all();
    if (result_) {
      return;
    }
  }
  transport::Endpoint& endpoint = engine_->endpoint();
  endpoint.abort({ErrorCode::kAborted,
                  concat("rank ",
                         endpoint.rank(),
                         " dropped ",
                         operation_->text(),
                         " before it was done",
                         std::uncaught_exceptions() > 0 ? ", with an exception under way" : ""),
                  static_cast<int>(endpoint.rank())});
  MutexLock lock(engine_->mutex_);
  if (!result_) {
    engine_->finish(*this, fail(*endpoint.failure()));
  }
}

Work Engine::post(std::unique_ptr<Operation> operation, std::chrono::milliseconds timeout) {
  auto ticket = std::make_unique<Ticket>(shared_from_this(), std::move(operation), timeout);
  MutexLock lock(mutex_);
  if (std::optional<Error> failure = endpoint_->failure()) {
    ticket->result_ = fail(std::move(*failure));
    ticket->operation_->release();
    return Work(std::move(ticket));
  }
  active_.push_back(ticket.get());
  ticket->operation_->start(*endpoint_);
  endpoint_->flush();
  return Work(std::move(ticket));
}

void Engine::advance_all() {
  bool others = false;
  for (size_t i = 0; i < active_.size();) {
    Ticket& ticket = *active_[i];
    if (ticket.operation_->advance(*endpoint_)) {
      finish(ticket, {});
      others = true;
    } else {
      ++i;
    }
  }
  endpoint_->flush();
  if (others) {
    endpoint_->wake();  // another thread may be waiting for one of them
  }
}

void Engine::finish(Ticket& ticket, Result<void> result) {
  if (!result) {
    ticket.operation_->cancel(*endpoint_);
  }
  ticket.operation_->release();
  ticket.result_ = std::move(result);
  std::erase(active_, &ticket);
}

bool Engine::settle(Ticket& ticket) {
  if (ticket.result_) {
    return true;
  }
  if (!endpoint_->failure()) {
    if (std::optional<Error> error = complaint(ticket)) {
      endpoint_->abort(std::move(*error));
    }
  }
  if (std::optional<Error> failure = endpoint_->failure()) {
    finish(ticket, fail(std::move(*failure)));
    return true;
  }
  return false;
}

std::optional<Error> Engine::complaint(Ticket& ticket) {
  const TimePoint now = Clock::now();
  for (const Ticket* active : active_) {
    if (active->operation_->mismatched()) {
      if (std::optional<Error> verdict = active->operation_->verdict(now)) {
        return verdict;
      }
    }
  }
  if (endpoint_->departures() > 0) {
    if (std::optional<Error> error = left_behind(ticket)) {
      return error;
    }
  }
  return now < ticket.expiry(now) ? std::nullopt : late(ticket, now);
}

std::optional<Error> Engine::left_behind(Ticket& ticket) {
  for (const int64_t rank : ticket.operation_->waiting_for()) {
    if (!endpoint_->departed(rank)) {
      continue;
    }
    // What it sent before the goodbye may have come in meanwhile.
    if (ticket.operation_->advance(*endpoint_)) {
      return std::nullopt;
    }
    const std::vector<int64_t> missing = ticket.operation_->waiting_for();
    if (std::find(missing.begin(), missing.end(), rank) != missing.end()) {
      return Error{ErrorCode::kPeerLost,
                   concat("rank ",
                          rank,
                          " left while rank ",
                          endpoint_->rank(),
                          " needs it for ",
                          ticket.operation_->text()),
                   static_cast<int>(rank)};
    }
  }
  return std::nullopt;
}

std::optional<Error> Engine::late(Ticket& ticket, TimePoint now) {
  const std::vector<int64_t> missing = ticket.operation_->waiting_for();
  if (missing.empty()) {
    return std::nullopt;  // all has come; the next look takes it
  }
  const transport::Suspect suspect = endpoint_->suspect(missing);
  const auto waited =
      std::chrono::duration_cast<std::chrono::milliseconds>(now - ticket.posted_).count();
  return Error{ErrorCode::kTimeout,
               concat("rank ",
                      endpoint_->rank(),
                      " waited ",
                      waited,
                      " ms for rank ",
                      join(missing, ", rank "),
                      " in ",
                      ticket.operation_->text(),
                      "; rank ",
                      suspect.rank,
                      ' ',
                      suspect.why),
               static_cast<int>(suspect.rank)};
}

}  // namespace brigade::collective
