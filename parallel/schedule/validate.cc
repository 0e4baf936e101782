// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>
#include <tuple>

#include "parallel/base/text.h"
#include "parallel/schedule/schedule.h"
#include "parallel/schedule/validate_order.h"

namespace brigade::schedule {
namespace {

template <class... T>
tl::unexpected<Error> refuse(const T&... parts) {
  return fail(ErrorCode::kUsage, concat("schedule: ", parts...));
}

Result<void> check_header(const Schedule& schedule) {
  const Header& header = schedule.header;
  if (header.ranks < 1 || header.microbatches < 1 || header.stages < 1) {
    return refuse("expected at least 1 rank, stage and microbatch; found ",
                  header.ranks,
                  " ranks, ",
                  header.stages,
                  " stages, ",
                  header.microbatches,
                  " microbatches");
  }
  if (std::ssize(header.rank_of_stage) != header.stages) {
    return refuse("expected a rank for each of ",
                  header.stages,
                  " stages; found ",
                  header.rank_of_stage.size());
  }
  for (size_t stage = 0; stage < header.rank_of_stage.size(); ++stage) {
    if (header.rank_of_stage[stage] < 0 || header.rank_of_stage[stage] >= header.ranks) {
      return refuse("stage ",
                    stage,
                    " is on rank ",
                    header.rank_of_stage[stage],
                    "; expected a rank below ",
                    header.ranks);
    }
  }
  if (std::ssize(schedule.per_rank) != header.ranks) {
    return refuse("expected one list of actions for each of ",
                  header.ranks,
                  " ranks; found ",
                  schedule.per_rank.size());
  }
  return {};
}

/// Calls `check(place, action)` on every action until one fails.
template <class Check>
Result<void> for_each_action(const Schedule& schedule, const Check& check) {
  for (size_t rank = 0; rank < schedule.per_rank.size(); ++rank) {
    for (size_t index = 0; index < schedule.per_rank[rank].size(); ++index) {
      Result<void> result = check(Place{rank, index}, schedule.per_rank[rank][index]);
      if (!result) {
        return result;
      }
    }
  }
  return {};
}

int64_t rank_of(const Header& header, int64_t stage) {
  return stage < 0 || stage >= header.stages ? -1
                                             : header.rank_of_stage[static_cast<size_t>(stage)];
}

/// Ids are unique and dependencies exist; stages and microbatches are in range, stages at home.
Result<void> check_references(const Schedule& schedule) {
  const Header& header = schedule.header;
  std::set<int64_t> ids;
  auto unique = for_each_action(schedule, [&](Place place, const Action& action) -> Result<void> {
    if (action.id < 0 || !ids.insert(action.id).second) {
      return refuse(describe(schedule, place),
                    " has id ",
                    action.id,
                    "; expected one of its own, not negative");
    }
    const int64_t stage = action.stage.value();
    const int64_t microbatch = action.microbatch.value();
    if (is_tail(action.kind)) {
      return {};
    }
    if (stage < 0 || stage >= header.stages || microbatch < 0 ||
        microbatch >= header.microbatches) {
      return refuse(describe(schedule, place),
                    " expected a stage below ",
                    header.stages,
                    " and a microbatch below ",
                    header.microbatches,
                    "; found stage ",
                    stage,
                    ", microbatch ",
                    microbatch);
    }
    if (rank_of(header, stage) != static_cast<int64_t>(place.rank)) {
      return refuse(
          describe(schedule, place), ": stage ", stage, " is on rank ", rank_of(header, stage));
    }
    return {};
  });
  if (!unique) {
    return unique;
  }
  return for_each_action(schedule, [&](Place place, const Action& action) -> Result<void> {
    for (const int64_t id : action.dependencies) {
      if (!ids.contains(id)) {
        return refuse(describe(schedule, place), " depends on action ", id, ", which is nowhere");
      }
    }
    return {};
  });
}

/// Where everything but the tail stands, by what it does.
class Positions {
 public:
  using Key = std::tuple<ActionKind, int64_t, int64_t>;

  /// False if such an action stands somewhere already.
  bool insert(const Action& action, Place place) {
    return places_.insert({key(action.kind, action.stage, action.microbatch), place}).second;
  }

  /// Null where there is none.
  const Place* find(ActionKind kind, StageId stage, MicrobatchId microbatch) const {
    const auto found = places_.find(key(kind, stage, microbatch));
    return found == places_.end() ? nullptr : &found->second;
  }

 private:
  static Key key(ActionKind kind, StageId stage, MicrobatchId microbatch) {
    return {kind, stage.value(), microbatch.value()};
  }

  std::map<Key, Place> places_;
};

/// Nothing stands twice, apart from the tail, which has its own check.
Result<Positions> positions(const Schedule& schedule) {
  Positions found;
  const auto unique =
      for_each_action(schedule, [&](Place place, const Action& action) -> Result<void> {
        if (is_tail(action.kind) || found.insert(action, place)) {
          return {};
        }
        return refuse(
            describe(schedule, place),
            " stands there a second time; the first is ",
            describe(schedule, *found.find(action.kind, action.stage, action.microbatch)));
      });
  if (!unique) {
    return fail(unique.error());
  }
  return found;
}

/// One forward before one backward of every stage and microbatch.
Result<void> check_compute(const Schedule& schedule, const Positions& where) {
  for (int64_t s = 0; s < schedule.header.stages; ++s) {
    for (int64_t m = 0; m < schedule.header.microbatches; ++m) {
      const Place* forward = where.find(ActionKind::kForward, StageId(s), MicrobatchId(m));
      const Place* backward = where.find(ActionKind::kBackward, StageId(s), MicrobatchId(m));
      if (forward == nullptr && backward == nullptr) {
        return refuse("stage ",
                      s,
                      ", microbatch ",
                      m,
                      " has neither forward nor backward on rank ",
                      rank_of(schedule.header, s));
      }
      if (forward == nullptr) {
        return refuse(describe(schedule, *backward), " has no forward");
      }
      if (backward == nullptr) {
        return refuse(describe(schedule, *forward), " has no backward");
      }
      if (forward->index > backward->index) {
        return refuse(describe(schedule, *backward),
                      " comes before its forward, ",
                      describe(schedule, *forward));
      }
    }
  }
  return {};
}

/// The rank at the other end of a transfer, or -1 where none is due.
int64_t peer_due(const Header& header, const Action& action) {
  const bool up =
      action.kind == ActionKind::kSendActivation || action.kind == ActionKind::kReceiveGradient;
  const int64_t stage = action.stage.value();
  const int64_t peer = rank_of(header, up ? stage + 1 : stage - 1);
  return peer == rank_of(header, stage) ? -1 : peer;
}

/// A transfer goes to the right rank.
Result<void> check_peer(const Schedule& schedule, Place place, const Action& action) {
  const int64_t due = peer_due(schedule.header, action);
  if (due < 0) {
    return refuse(describe(schedule, place), ": no other rank is at the other end of it");
  }
  if (action.peer != due) {
    return refuse(describe(schedule, place), " expected peer ", due, "; found ", action.peer);
  }
  return {};
}

/// A compute action has its receive before it and its send after it, where other ranks hold the
/// neighbour stages.
Result<void> check_transfers_of(const Schedule& schedule,
                                const Positions& where,
                                Place place,
                                const Action& compute) {
  const bool forward = compute.kind == ActionKind::kForward;
  Action transfer = compute;
  transfer.kind = forward ? ActionKind::kReceiveActivation : ActionKind::kReceiveGradient;
  const auto missing = [&] {
    return refuse(describe(schedule, place),
                  " has no ",
                  to_string(transfer),
                  is_send(transfer.kind) ? " after it" : " before it");
  };
  if (peer_due(schedule.header, transfer) >= 0) {
    const Place* receive = where.find(transfer.kind, compute.stage, compute.microbatch);
    if (receive == nullptr || receive->index > place.index) {
      return missing();
    }
  }
  transfer.kind = forward ? ActionKind::kSendActivation : ActionKind::kSendGradient;
  if (peer_due(schedule.header, transfer) >= 0) {
    const Place* send = where.find(transfer.kind, compute.stage, compute.microbatch);
    if (send == nullptr || send->index < place.index) {
      return missing();
    }
  }
  return {};
}

/// With every stage's compute present once, sends and receives pair one to one.
Result<void> check_transfers(const Schedule& schedule, const Positions& where) {
  return for_each_action(schedule, [&](Place place, const Action& action) -> Result<void> {
    if (is_compute(action.kind)) {
      return check_transfers_of(schedule, where, place, action);
    }
    return is_tail(action.kind) ? Result<void>() : check_peer(schedule, place, action);
  });
}

}  // namespace

Result<void> validate(const Schedule& schedule) {
  Result<void> result = check_header(schedule);
  if (result) {
    result = check_references(schedule);
  }
  if (!result) {
    return result;
  }
  const Result<Positions> where = positions(schedule);
  if (!where) {
    return fail(where.error());
  }
  for (const auto check : {check_compute, check_transfers}) {
    result = check(schedule, *where);
    if (!result) {
      return result;
    }
  }
  for (const auto check : {check_tail, check_channels, check_acyclic}) {
    result = check(schedule);
    if (!result) {
      return result;
    }
  }
  return {};
}

}  // namespace brigade::schedule
