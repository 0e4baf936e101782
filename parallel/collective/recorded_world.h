// SPDX-License-Identifier: Apache-2.0
/// RecordedWorld: another World, every operation of whose groups leaves one span on a Timeline.
///
///   auto timeline = std::make_shared<Timeline>();
///   RecordedWorld recorded(world, timeline);
///   auto group = recorded.group({0, 1}, "dp_shard");   // used like any other
///
/// A span says when posting began and ended (an engine may copy or send right there, on the
/// caller's thread), when the first wait() began and ended (hardly apart where it was complete),
/// and how many bytes. It is added when that wait ends, or when the Work goes without one. Time
/// spent in done() belongs to whatever the thread is in.
///
/// Matching:      a collective's sequence number is the same on all members, as its group is; the
///                n-th message of a tag to a peer is the n-th of that tag from this rank there.
/// Otherwise:     results, errors, names, deadlines, counts, abort and goodbye are those of the
///                world beneath.
/// Cost:          an operation pays four readings of the clock and one allocation more.
/// Thread safety: that of the world beneath. What other threads than the timeline's do is passed on
///                and not recorded.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "parallel/base/timeline.h"
#include "parallel/collective/world.h"

namespace brigade::collective {

class RecordedWorld final : public World {
 public:
  /// Borrows the world beneath. The timeline is shared, since works may outlive their world.
  RecordedWorld(World& beneath, std::shared_ptr<Timeline> timeline);
  /// Owns it.
  RecordedWorld(std::unique_ptr<World> beneath, std::shared_ptr<Timeline> timeline);

  int64_t rank() const override { return beneath_.rank(); }
  int64_t size() const override { return beneath_.size(); }
  std::unique_ptr<Communicator> group(std::vector<int64_t> members, std::string name) override;
  void set_timeout(std::chrono::milliseconds timeout) override { beneath_.set_timeout(timeout); }
  void abort(const Error& error) override { beneath_.abort(error); }
  std::optional<Error> failure() const override { return beneath_.failure(); }
  void close() override { beneath_.close(); }
  transport::BufferBytes buffer_bytes() const override { return beneath_.buffer_bytes(); }
  World& beneath() { return beneath_; }

 private:
  const std::unique_ptr<World> owned_;
  World& beneath_;
  const std::shared_ptr<Timeline> timeline_;
};

}  // namespace brigade::collective
