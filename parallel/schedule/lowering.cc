// SPDX-License-Identifier: Apache-2.0
#include "parallel/schedule/lowering.h"

#include <map>
#include <tuple>

#include "parallel/base/check.h"

namespace brigade::schedule {
namespace {

Action transfer(ActionKind kind, StageId stage, MicrobatchId microbatch, int64_t peer) {
  Action action;
  action.kind = kind;
  action.stage = stage;
  action.microbatch = microbatch;
  action.peer = peer;
  return action;
}

/// The rank of `stage`, or -1 where the model has no such stage.
int64_t rank_of(const Header& header, int64_t stage) {
  return stage < 0 || stage >= header.stages ? -1
                                             : header.rank_of_stage[static_cast<size_t>(stage)];
}

/// `row` with every transfer it needs, and the tail.
std::vector<Action> with_transfers(const Header& header,
                                   int64_t rank,
                                   const std::vector<Action>& row) {
  std::vector<Action> lowered;
  for (const Action& compute : row) {
    BRIGADE_CHECK(is_compute(compute.kind), to_string(compute));
    const bool forward = compute.kind == ActionKind::kForward;
    const int64_t stage = compute.stage.value();
    const int64_t from = rank_of(header, forward ? stage - 1 : stage + 1);
    const int64_t to = rank_of(header, forward ? stage + 1 : stage - 1);
    if (from >= 0 && from != rank) {
      lowered.push_back(
          transfer(forward ? ActionKind::kReceiveActivation : ActionKind::kReceiveGradient,
                   compute.stage,
                   compute.microbatch,
                   from));
    }
    lowered.push_back(transfer(compute.kind, compute.stage, compute.microbatch, -1));
    if (to >= 0 && to != rank) {
      lowered.push_back(transfer(forward ? ActionKind::kSendActivation : ActionKind::kSendGradient,
                                 compute.stage,
                                 compute.microbatch,
                                 to));
    }
  }
  for (const ActionKind kind : kTail) {
    lowered.push_back(transfer(kind, StageId(), MicrobatchId(), -1));
  }
  return lowered;
}

/// Finds ids by what an action does. Of actions listed twice (which validate() refuses) it knows
/// the last.
class Directory {
 public:
  explicit Directory(const Schedule& schedule) {
    for (size_t rank = 0; rank < schedule.per_rank.size(); ++rank) {
      for (const Action& action : schedule.per_rank[rank]) {
        ids_[key(action.kind, action.stage, action.microbatch)] = action.id;
        if (is_tail(action.kind)) {
          tail_[action.kind].push_back(action.id);
        }
        if (action.kind == ActionKind::kBackward) {
          backwards_[static_cast<int64_t>(rank)].push_back(action.id);
        }
      }
    }
  }

  void append(std::vector<int64_t>& to, ActionKind kind, int64_t stage, MicrobatchId mb) const {
    const auto found = ids_.find(key(kind, StageId(stage), mb));
    if (found != ids_.end()) {
      to.push_back(found->second);
    }
  }

  const std::vector<int64_t>& on_all_ranks(ActionKind tail) const { return tail_.at(tail); }

  std::vector<int64_t> backwards(int64_t rank) const {
    const auto found = backwards_.find(rank);
    return found == backwards_.end() ? std::vector<int64_t>() : found->second;
  }

 private:
  using Key = std::tuple<ActionKind, int64_t, int64_t>;
  static Key key(ActionKind kind, StageId stage, MicrobatchId microbatch) {
    return {kind, stage.value(), microbatch.value()};
  }

  std::map<Key, int64_t> ids_;
  std::map<ActionKind, std::vector<int64_t>> tail_;
  std::map<int64_t, std::vector<int64_t>> backwards_;
};

/// A compute action waits for the input from the neighbour stage: its receive, or the neighbour's
/// own action where both share the rank.
void append_input(std::vector<int64_t>& to,
                  const Directory& directory,
                  const Header& header,
                  const Action& action) {
  const bool forward = action.kind == ActionKind::kForward;
  const int64_t stage = action.stage.value();
  const int64_t neighbour = forward ? stage - 1 : stage + 1;
  if (rank_of(header, neighbour) < 0) {
    return;
  }
  if (rank_of(header, neighbour) == rank_of(header, stage)) {
    directory.append(to, action.kind, neighbour, action.microbatch);
    return;
  }
  directory.append(to,
                   forward ? ActionKind::kReceiveActivation : ActionKind::kReceiveGradient,
                   stage,
                   action.microbatch);
}

std::vector<int64_t> dependencies_of(const Action& action,
                                     int64_t rank,
                                     const Directory& directory,
                                     const Header& header) {
  std::vector<int64_t> ids;
  const int64_t stage = action.stage.value();
  switch (action.kind) {
    case ActionKind::kBackward:
      directory.append(ids, ActionKind::kForward, stage, action.microbatch);
      append_input(ids, directory, header, action);
      return ids;
    case ActionKind::kForward: append_input(ids, directory, header, action); return ids;
    case ActionKind::kSendActivation:
      directory.append(ids, ActionKind::kForward, stage, action.microbatch);
      return ids;
    case ActionKind::kSendGradient:
      directory.append(ids, ActionKind::kBackward, stage, action.microbatch);
      return ids;
    case ActionKind::kReceiveActivation:
    case ActionKind::kReceiveGradient: {
      const Message message = message_of(action);
      directory.append(ids, message.direction, message.stage.value(), message.microbatch);
      return ids;
    }
    case ActionKind::kReduceGradients: return directory.backwards(rank);
    case ActionKind::kExchangeTied: return directory.on_all_ranks(ActionKind::kReduceGradients);
    case ActionKind::kGradientNorm: return directory.on_all_ranks(ActionKind::kExchangeTied);
    case ActionKind::kOptimizerStep:
      return {directory.on_all_ranks(ActionKind::kGradientNorm)[static_cast<size_t>(rank)]};
    case ActionKind::kGatherParameters: return directory.on_all_ranks(ActionKind::kOptimizerStep);
    case ActionKind::kUnshard:
    case ActionKind::kReshard:
    case ActionKind::kReduceUnit: break;  // units.h adds them, later
  }
  BRIGADE_CHECK(false, static_cast<int>(action.kind));
}

}  // namespace

Schedule lower(const Header& header, const std::vector<std::vector<Action>>& compute_rows) {
  BRIGADE_CHECK(std::ssize(compute_rows) == header.ranks, compute_rows.size(), header.ranks);
  Schedule schedule{header, {}};
  int64_t next_id = 0;
  for (int64_t rank = 0; rank < header.ranks; ++rank) {
    schedule.per_rank.push_back(
        with_transfers(header, rank, compute_rows[static_cast<size_t>(rank)]));
    for (Action& action : schedule.per_rank.back()) {
      action.id = next_id++;
    }
  }
  const Directory directory(schedule);
  for (int64_t rank = 0; rank < header.ranks; ++rank) {
    for (Action& action : schedule.per_rank[static_cast<size_t>(rank)]) {
      action.dependencies = dependencies_of(action, rank, directory, header);
    }
  }
  return schedule;
}

}  // namespace brigade::schedule
