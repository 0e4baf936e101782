// SPDX-License-Identifier: Apache-2.0
/// Worlds whose bytes take a set time, for tests of what that time is called.
///
///   run_ranks_slowed(2, {.latency = 10ms, .bytes_per_s = 40e6}, LinkClock::kVirtual,
///                    [](collective::World& world, RankLink& link) { link.pass(20ms); ... });
///
/// An operation is done latency + bytes / bandwidth after its last member posted it (of messages,
/// the receive: after its send was posted), and never before it would be otherwise. Bytes are all
/// of the operation's; transfers at the same time do not slow each other. Sends, groups of one and
/// failures are not slowed, and nothing by more than a second.
///
/// On the virtual clock nothing but pass() and waiting takes time, and that exactly: a rank's time
/// moves on to when its bytes have come. On the real clock the link keeps a book of its own, since
/// a busy machine adds to what was set.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "tests/support/rank_threads.h"

namespace brigade::testing {

struct LinkSpeed {
  std::chrono::nanoseconds latency{0};
  double bytes_per_s = 1e12;

  std::chrono::nanoseconds time_of(int64_t bytes) const;
};

enum class LinkClock : uint8_t { kReal, kVirtual };

/// One rank's end of the links, and its clock. Belongs to the rank's thread.
class RankLink {
 public:
  explicit RankLink(LinkClock clock) : clock_(clock) {}

  int64_t now_ns() const;
  /// Computes for so long.
  void pass(std::chrono::nanoseconds time) { pass_until(now_ns() + time.count()); }
  void pass_until(int64_t ns);

  /// How long the rank posted, and waited for what could move already, in groups of this name.
  int64_t exposed_ns(const std::string& group) const;
  void add_exposed(const std::string& group, int64_t ns) { exposed_ns_[group] += ns; }

 private:
  const LinkClock clock_;
  int64_t virtual_ns_ = 0;
  std::map<std::string, int64_t> exposed_ns_;
};

/// As run_ranks().
void run_ranks_slowed(
    int64_t size,
    const LinkSpeed& speed,
    LinkClock clock,
    const std::function<void(collective::World& world, RankLink& link)>& function);

}  // namespace brigade::testing
