// SPDX-License-Identifier: Apache-2.0
#include "parallel/collective/operation.h"

#include <algorithm>
#include <utility>

#include "parallel/base/text.h"
#include "parallel/collective/call.h"
#include "parallel/collective/join.h"
#include "parallel/transport/spans.h"

namespace brigade::collective {
namespace {

using transport::kEagerBytes;
using transport::Transfer;

constexpr uint8_t kCallLane = 0;
constexpr uint8_t kForwardLane = 1;
constexpr uint8_t kMessageLane = 2;

constexpr std::chrono::milliseconds kGrace{200};  // for calls that are still unknown

constexpr int64_t kPieceBytes = ScratchPool::kBlockBytes;

int64_t pieces_of(int64_t bytes) {
  return (bytes + kPieceBytes - 1) / kPieceBytes;
}

int64_t piece_length(int64_t bytes, int64_t piece) {
  return std::min(kPieceBytes, bytes - piece * kPieceBytes);
}

bool is_message(const Plan& plan) {
  return plan.print.operation == static_cast<uint8_t>(Call::kMessage);
}

/// The part that carries a piece of a stream of `bytes`.
uint32_t part_of(int64_t bytes, int64_t piece) {
  return bytes <= kEagerBytes ? 0 : static_cast<uint32_t>(piece) + 1;
}

}  // namespace

Operation::Operation(std::shared_ptr<const Group> group,
                     uint64_t sequence,
                     Plan plan,
                     Keep keep,
                     ScratchPool& scratch)
    : group_(std::move(group)),
      sequence_(sequence),
      lane_(is_message(plan) ? kMessageLane : kCallLane),
      plan_(std::move(plan)),
      keep_(std::move(keep)),
      scratch_(scratch) {}

transport::Key Operation::key(const Letter& letter) const {
  return {group_->id, sequence_, letter.part, letter.lane};
}

void Operation::start(transport::Endpoint& endpoint) {
  // Receives first: a peer's early bytes then find their place.
  for (const Incoming& incoming : plan_.incoming) {
    post_incoming(endpoint, incoming);
  }
  if (plan_.reduction) {
    const int64_t bytes = transport::length_of(plan_.reduction->result);
    pieces_ = std::max<int64_t>(1, pieces_of(bytes));  // an empty one still compares the call
    if (bytes > kEagerBytes) {
      for (const Outgoing& outgoing : plan_.outgoing) {
        first_parts_.push_back(&post_receive(
            endpoint, {outgoing.member, plan_.reduction->print, 0, lane_}, {}, receives_));
      }
    }
    for (int64_t piece = 0; piece < std::min<int64_t>(pieces_, kWindow); ++piece) {
      post_terms(endpoint, piece);
    }
  }
  post_gathered(endpoint, false);
  for (const Outgoing& outgoing : plan_.outgoing) {
    post_outgoing(endpoint, outgoing);
  }
}

void Operation::post_send(transport::Endpoint& endpoint,
                          const Letter& letter,
                          ConstSpans bytes,
                          transport::Completion& completion) {
  completion.expect(1);
  Transfer& transfer = transfers_.emplace_back(Transfer::send(
      world_rank(letter.member), key(letter), letter.print, std::move(bytes), completion));
  endpoint.post(transfer);
}

Transfer& Operation::post_receive(transport::Endpoint& endpoint,
                                  const Letter& letter,
                                  Spans into,
                                  transport::Completion& completion) {
  completion.expect(1);
  Transfer& transfer = transfers_.emplace_back(Transfer::receive(
      world_rank(letter.member), key(letter), letter.print, std::move(into), completion));
  endpoint.post(transfer);
  return transfer;
}

void Operation::post_outgoing(transport::Endpoint& endpoint, const Outgoing& outgoing) {
  const int64_t bytes = transport::length_of(outgoing.bytes);
  if (bytes <= kEagerBytes) {
    post_send(endpoint, {outgoing.member, outgoing.print, 0, lane_}, outgoing.bytes, sends_);
    return;
  }
  post_send(endpoint, {outgoing.member, outgoing.print, 0, lane_}, {}, sends_);
  for (int64_t piece = 0; piece < pieces_of(bytes); ++piece) {
    post_send(endpoint,
              {outgoing.member, outgoing.print, part_of(bytes, piece), lane_},
              transport::slice(outgoing.bytes, piece * kPieceBytes, piece_length(bytes, piece)),
              sends_);
  }
}

void Operation::post_incoming(transport::Endpoint& endpoint, const Incoming& incoming) {
  const int64_t bytes = transport::length_of(incoming.into);
  Transfer& first = post_receive(endpoint,
                                 {incoming.member, incoming.print, 0, lane_},
                                 bytes <= kEagerBytes ? incoming.into : Spans{},
                                 receives_);
  first_parts_.push_back(&first);
  for (int64_t piece = 0; bytes > kEagerBytes && piece < pieces_of(bytes); ++piece) {
    post_receive(endpoint,
                 {incoming.member, incoming.print, part_of(bytes, piece), lane_},
                 transport::slice(incoming.into, piece * kPieceBytes, piece_length(bytes, piece)),
                 receives_);
  }
}

// Joined pieces land on the terms that were sent for them. They cannot come before those terms have
// left, but another thread may still be inside the system call that sent short ones; so the
// receives of short pieces wait for the sends to be done. Nothing is lost: the endpoint keeps short
// messages.
void Operation::post_gathered(transport::Endpoint& endpoint, bool short_pieces) {
  for (const Incoming& gathered : plan_.gathered) {
    const int64_t bytes = transport::length_of(gathered.into);
    for (int64_t piece = 0; piece < pieces_of(bytes); ++piece) {
      const int64_t length = piece_length(bytes, piece);
      if ((length <= kEagerBytes) == short_pieces) {
        post_receive(endpoint,
                     {gathered.member, gathered.print, static_cast<uint32_t>(piece), kForwardLane},
                     transport::slice(gathered.into, piece * kPieceBytes, length),
                     receives_);
      }
    }
  }
}

void Operation::post_terms(transport::Endpoint& endpoint, int64_t piece) {
  const int64_t bytes = transport::length_of(plan_.reduction->result);
  const size_t length = static_cast<size_t>(std::max<int64_t>(0, piece_length(bytes, piece)));
  Slot& slot = slots_[static_cast<size_t>(piece) % kWindow];
  slot.blocks.resize(group_->members.size());
  for (const Outgoing& outgoing : plan_.outgoing) {  // one per other member
    ScratchPool::Block& block = slot.blocks[static_cast<size_t>(outgoing.member)];
    if (block.bytes == nullptr) {
      block = scratch_.take();
    }
    Transfer& transfer =
        post_receive(endpoint,
                     {outgoing.member, plan_.reduction->print, part_of(bytes, piece), lane_},
                     {Span(block.bytes.get(), length)},
                     slot.arrived);
    if (bytes <= kEagerBytes) {
      first_parts_.push_back(&transfer);
    }
  }
}

bool Operation::join_is_due() const {
  return joined_ < pieces_ && slots_[static_cast<size_t>(joined_) % kWindow].arrived.zero() &&
         (!plan_.reduction->after_sends || sends_.zero());
}

void Operation::join_piece(transport::Endpoint& endpoint) {
  const Reduction& reduction = *plan_.reduction;
  const int64_t bytes = transport::length_of(reduction.result);
  const int64_t begin = joined_ * kPieceBytes;
  const int64_t length = std::max<int64_t>(0, piece_length(bytes, joined_));
  const Slot& slot = slots_[static_cast<size_t>(joined_) % kWindow];
  std::vector<const std::byte*> terms;
  for (const ScratchPool::Block& block : slot.blocks) {
    terms.push_back(block.bytes.get());  // null at this member's own place
  }
  join_terms(terms,
             group_->rank,
             transport::slice(reduction.own, begin, length),
             transport::slice(reduction.result, begin, length),
             reduction.dtype,
             reduction.op);
  if (reduction.forward && length > 0) {
    forward_piece(endpoint, begin, length);
  }
  if (joined_ + static_cast<int64_t>(kWindow) < pieces_) {
    post_terms(endpoint, joined_ + static_cast<int64_t>(kWindow));
  }
  ++joined_;
}

void Operation::forward_piece(transport::Endpoint& endpoint, int64_t begin, int64_t length) {
  const ConstSpans piece =
      transport::slice(transport::as_const(plan_.reduction->result), begin, length);
  const auto part = static_cast<uint32_t>(begin / kPieceBytes);
  for (const Outgoing& outgoing : plan_.outgoing) {
    post_send(endpoint, {outgoing.member, plan_.print, part, kForwardLane}, piece, forwards_);
  }
}

bool Operation::advance(transport::Endpoint& endpoint) {
  while (join_is_due()) {
    join_piece(endpoint);
  }
  if (!short_gathered_ && sends_.zero()) {
    short_gathered_ = true;
    post_gathered(endpoint, true);
  }
  return joined_ == pieces_ && sends_.zero() && forwards_.zero() && receives_.zero();
}

std::vector<int64_t> Operation::waiting_for() const {
  // Missing bytes say more than unsent ones: a peer that takes nothing mostly also gives nothing.
  for (const bool sending : {false, true}) {
    std::vector<int64_t> ranks;
    for (const Transfer& transfer : transfers_) {
      if (transfer.sending == sending && transfer.pending() &&
          std::find(ranks.begin(), ranks.end(), transfer.peer) == ranks.end()) {
        ranks.push_back(transfer.peer);
      }
    }
    if (!ranks.empty()) {
      return ranks;
    }
  }
  return {};
}

bool Operation::mismatched() const {
  return std::any_of(first_parts_.begin(), first_parts_.end(), [](const Transfer* first) {
    return first->mismatched();
  });
}

std::optional<Error> Operation::verdict(transport::TimePoint now) {
  if (!grace_end_) {
    grace_end_ = now + kGrace;
  }
  const bool all_known = std::none_of(first_parts_.begin(),
                                      first_parts_.end(),
                                      [](const Transfer* first) { return first->pending(); });
  if (!all_known && now < *grace_end_) {
    return std::nullopt;
  }
  return mismatch_error(*group_, sequence_, plan_.print, first_parts_);
}

void Operation::detach(transport::Endpoint& endpoint) {
  for (Transfer& transfer : transfers_) {
    if (transfer.pending()) {
      endpoint.detach(transfer);
    }
  }
}

void Operation::cancel(transport::Endpoint& endpoint) {
  // Also what looks complete: the endpoint's lock says whether its thread is done with the
  // transfer.
  for (Transfer& transfer : transfers_) {
    endpoint.cancel(transfer);
  }
}

void Operation::release() {
  for (Slot& slot : slots_) {
    for (ScratchPool::Block& block : slot.blocks) {
      if (block.bytes != nullptr) {
        scratch_.give(std::move(block));
      }
    }
    slot.blocks.clear();
  }
  keep_.reset();
}

std::string Operation::text() const {
  return concat(describe(plan_.print),
                " in ",
                group_->name,
                lane_ == kMessageLane ? " tag " : " seq ",
                sequence_);
}

}  // namespace brigade::collective
