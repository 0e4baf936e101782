// SPDX-License-Identifier: Apache-2.0
/// World: all ranks of a run, as one rank sees them; makes groups, carries the abort.
///
/// Engines: in_process_worlds() for ranks that are threads of one process (tests), connect() for
/// processes over TCP.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parallel/base/result.h"
#include "parallel/collective/communicator.h"
#include "parallel/transport/buffer_count.h"

namespace brigade::collective {

class World {
 public:
  virtual ~World() = default;

  virtual int64_t rank() const = 0;
  virtual int64_t size() const = 0;

  /// A group of world ranks in the given order; this rank must be among them. Members make the same
  /// groups in the same order. No message is sent. Timeout starts as the world's.
  virtual std::unique_ptr<Communicator> group(std::vector<int64_t> members, std::string name) = 0;

  /// The group of all ranks, in their order.
  std::unique_ptr<Communicator> everyone(std::string name) {
    std::vector<int64_t> members(static_cast<size_t>(size()));
    std::iota(members.begin(), members.end(), int64_t{0});
    return group(std::move(members), std::move(name));
  }

  /// The world's timeout for operations of groups made from now on.
  virtual void set_timeout(std::chrono::milliseconds timeout) = 0;

  /// Tells every rank that this one failed first: each pending and later operation anywhere ends
  /// with `error` and this rank as its origin. Idempotent, never blocks for long, from any thread.
  /// The first abort wins.
  virtual void abort(const Error& error) = 0;

  /// The failure that ended the world, if one did: what to print. `origin_rank` is always set.
  virtual std::optional<Error> failure() const = 0;

  /// Says goodbye, so that leaving is not taken for dying. Not collective: returns without waiting
  /// for peers' goodbyes once what was sent has left.
  virtual void close() = 0;

  /// What messages hold beside the callers' memory, now and at most: blocks for terms that wait to
  /// be joined (those kept for the next operation too), copies of messages whose sender went on,
  /// short ones that came early, and 16 KiB to read into per connection.
  virtual transport::BufferBytes buffer_bytes() const = 0;
};

/// Worlds of `size` ranks inside this process, joined by in-process links; element r is rank r's
/// and belongs to one thread.
std::vector<std::unique_ptr<World>> in_process_worlds(int64_t size,
                                                      std::chrono::milliseconds timeout);

/// Where and who, for ranks that are processes.
struct ConnectOptions {
  int64_t rank = 0;
  int64_t size = 1;
  std::string master_address = "127.0.0.1";  ///< rank 0 listens there; other ranks dial it
  uint16_t master_port = 0;
  std::chrono::milliseconds init_timeout{300'000};
  std::chrono::milliseconds timeout{100'000};
};

/// Joins the world over TCP. Rank 0 listens at master_address:master_port, hands every rank the
/// addresses of all, and the ranks connect pairwise. Listens on the interface of the route to the
/// master only: loopback stays on loopback.
///
/// Errors: kIo (port in use: the text says which port, and what to try), kTimeout (names the ranks
///         that never came).
Result<std::unique_ptr<World>> connect(const ConnectOptions& options);

}  // namespace brigade::collective
