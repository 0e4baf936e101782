// SPDX-License-Identifier: Apache-2.0
/// Engine: all posted operations of one rank, over one Endpoint. Every wait progresses all of them.
///
///   Work work = engine.post(std::move(operation), timeout);
///
/// Thread safety: safe.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "parallel/base/mutex.h"
#include "parallel/base/result.h"
#include "parallel/collective/communicator.h"
#include "parallel/collective/operation.h"
#include "parallel/collective/scratch_pool.h"
#include "parallel/transport/endpoint.h"

namespace brigade::collective {

/// Shared by the world, its groups and their works, which may be destroyed in any order.
class Engine : public std::enable_shared_from_this<Engine> {
 public:
  explicit Engine(std::unique_ptr<transport::Endpoint> endpoint)
      : endpoint_(std::move(endpoint)), scratch_(endpoint_->buffers()) {}

  transport::Endpoint& endpoint() { return *endpoint_; }
  const transport::Endpoint& endpoint() const { return *endpoint_; }
  ScratchPool& scratch() { return scratch_; }

  /// Starts it; past `timeout` from now it is late.
  Work post(std::unique_ptr<Operation> operation, std::chrono::milliseconds timeout);

 private:
  class Ticket;

  void advance_all() BRIGADE_REQUIRES(mutex_);
  void finish(Ticket& ticket, Result<void> result) BRIGADE_REQUIRES(mutex_);
  bool settle(Ticket& ticket) BRIGADE_REQUIRES(mutex_);
  std::optional<Error> complaint(Ticket& ticket) BRIGADE_REQUIRES(mutex_);
  std::optional<Error> left_behind(Ticket& ticket) BRIGADE_REQUIRES(mutex_);
  std::optional<Error> late(Ticket& ticket, transport::TimePoint now) BRIGADE_REQUIRES(mutex_);

  const std::unique_ptr<transport::Endpoint> endpoint_;
  Mutex mutex_;
  ScratchPool scratch_ BRIGADE_GUARDED_BY(mutex_);
  std::vector<Ticket*> active_ BRIGADE_GUARDED_BY(mutex_);
};

}  // namespace brigade::collective
