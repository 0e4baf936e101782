// SPDX-License-Identifier: Apache-2.0
/// Operation: carries out one Plan over an Endpoint, piece by piece.
///
/// A stream of up to kEagerBytes is one message, part 0. A longer one is an empty part 0 - the call
/// alone, so that it is compared before anything moves - and pieces of ScratchPool::kBlockBytes,
/// parts 1, 2, ... Terms to be joined arrive in a window of pieces per member; each joined piece
/// makes room for the next. Scratch is bounded by window x members, whatever the length.
///
/// Thread safety: unsafe; the engine's lock guards it.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parallel/base/result.h"
#include "parallel/collective/plan.h"
#include "parallel/collective/scratch_pool.h"
#include "parallel/transport/endpoint.h"

namespace brigade::collective {

class Operation {
 public:
  /// Pieces of a reduction that arrive ahead of their join, from each other member.
  static constexpr size_t kWindow = 4;

  /// `sequence` numbers the group's collectives; for messages it is the tag.
  Operation(std::shared_ptr<const Group> group,
            uint64_t sequence,
            Plan plan,
            Keep keep,
            ScratchPool& scratch);

  void start(transport::Endpoint& endpoint);
  /// Does what can be done without waiting; true once everything is done.
  bool advance(transport::Endpoint& endpoint);

  /// World ranks whose bytes or readiness are missing.
  std::vector<int64_t> waiting_for() const;
  /// True if a member called something else; verdict() then says who, as soon as all calls are
  /// known or `now` is past a short grace for those that are not.
  bool mismatched() const;
  std::optional<Error> verdict(transport::TimePoint now);

  /// Lets a waiting sender go on: the endpoint copies what has not left yet.
  void detach(transport::Endpoint& endpoint);
  bool may_detach() const { return plan_.may_detach; }

  /// After a failure: returns once nothing of it is touched any more.
  void cancel(transport::Endpoint& endpoint);
  /// Gives back what it holds. Call it once, when done or cancelled.
  void release();

  /// "all_reduce f32[1024] in dp#3 seq 12".
  std::string text() const;

 private:
  struct Slot {
    transport::Completion arrived;
    std::vector<ScratchPool::Block> blocks;  // per other member, in member order
  };

  int64_t world_rank(int member) const { return group_->members[static_cast<size_t>(member)]; }
  /// Where a message of this operation belongs, and what it says.
  struct Letter {
    int member;
    const transport::Fingerprint& print;
    uint32_t part;
    uint8_t lane;
  };
  transport::Key key(const Letter& letter) const;
  void post_send(transport::Endpoint& endpoint,
                 const Letter& letter,
                 ConstSpans bytes,
                 transport::Completion& completion);
  transport::Transfer& post_receive(transport::Endpoint& endpoint,
                                    const Letter& letter,
                                    Spans into,
                                    transport::Completion& completion);
  void post_outgoing(transport::Endpoint& endpoint, const Outgoing& outgoing);
  void post_incoming(transport::Endpoint& endpoint, const Incoming& incoming);
  void post_gathered(transport::Endpoint& endpoint, bool short_pieces);
  void post_terms(transport::Endpoint& endpoint, int64_t piece);
  bool join_is_due() const;
  void join_piece(transport::Endpoint& endpoint);
  void forward_piece(transport::Endpoint& endpoint, int64_t begin, int64_t length);

  const std::shared_ptr<const Group> group_;  // a Work may outlive its communicator
  const uint64_t sequence_;
  const uint8_t lane_;
  Plan plan_;
  Keep keep_;
  ScratchPool& scratch_;

  std::deque<transport::Transfer> transfers_;      // stable addresses
  std::vector<transport::Transfer*> first_parts_;  // receives that compare the call, one per member
  transport::Completion sends_;                    // of the plan's outgoing bytes
  transport::Completion forwards_;                 // of joined pieces
  transport::Completion receives_;
  std::array<Slot, kWindow> slots_;
  int64_t pieces_ = 0;  // of the reduction
  int64_t joined_ = 0;
  bool short_gathered_ = false;  // the receives of short forwarded pieces are posted
  std::optional<transport::TimePoint> grace_end_;
};

}  // namespace brigade::collective
