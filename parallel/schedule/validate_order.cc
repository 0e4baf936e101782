// SPDX-License-Identifier: Apache-2.0
#include "parallel/schedule/validate_order.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "parallel/base/check.h"
#include "parallel/base/text.h"

namespace brigade::schedule {
namespace {

using Channel = std::tuple<int64_t, int64_t, ActionKind>;  // from, to, sending kind

struct Entry {
  Message message;
  Place place;
};

/// Channel -> its messages in the order of one end.
std::map<Channel, std::vector<Entry>> channels(const Schedule& schedule, bool receiving) {
  std::map<Channel, std::vector<Entry>> entries;
  for (size_t rank = 0; rank < schedule.per_rank.size(); ++rank) {
    for (size_t index = 0; index < schedule.per_rank[rank].size(); ++index) {
      const Action& action = schedule.per_rank[rank][index];
      if (receiving ? is_receive(action.kind) : is_send(action.kind)) {
        const Message message = message_of(action);
        const auto self = static_cast<int64_t>(rank);
        const Channel channel{
            receiving ? action.peer : self, receiving ? self : action.peer, message.direction};
        entries[channel].push_back({message, {rank, index}});
      }
    }
  }
  return entries;
}

/// The waits of a schedule: for every action, numbered rank by rank, the actions that it waits for.
class WaitGraph {
 public:
  explicit WaitGraph(const Schedule& schedule) : schedule_(schedule) {
    std::unordered_map<int64_t, size_t> node_of_id;
    std::map<Message, size_t> node_of_send;
    for (size_t rank = 0; rank < schedule.per_rank.size(); ++rank) {
      for (size_t index = 0; index < schedule.per_rank[rank].size(); ++index) {
        const Action& action = schedule.per_rank[rank][index];
        node_of_id[action.id] = places_.size();
        if (is_send(action.kind)) {
          node_of_send[message_of(action)] = places_.size();
        }
        places_.push_back({rank, index});
      }
    }
    for (size_t node = 0; node < places_.size(); ++node) {
      const Action& action = this->action(node);
      waits_.emplace_back();
      if (places_[node].index > 0) {
        waits_.back().push_back(node - 1);
      }
      for (const int64_t id : action.dependencies) {
        waits_.back().push_back(node_of_id.at(id));
      }
      if (is_receive(action.kind)) {
        waits_.back().push_back(node_of_send.at(message_of(action)));
      }
    }
  }

  /// Runs all that can run; what is left waits for a cycle. Returns which nodes are done.
  std::vector<bool> run() const {
    std::vector<std::vector<size_t>> wakes(places_.size());
    std::vector<size_t> missing(places_.size());
    std::vector<size_t> ready;
    for (size_t node = 0; node < places_.size(); ++node) {
      missing[node] = waits_[node].size();
      for (const size_t before : waits_[node]) {
        wakes[before].push_back(node);
      }
      if (missing[node] == 0) {
        ready.push_back(node);
      }
    }
    std::vector<bool> done(places_.size());
    while (!ready.empty()) {
      const size_t node = ready.back();
      ready.pop_back();
      done[node] = true;
      for (const size_t after : wakes[node]) {
        if (--missing[after] == 0) {
          ready.push_back(after);
        }
      }
    }
    return done;
  }

  /// One cycle among the nodes that are not done, each waiting for the next.
  std::vector<size_t> cycle(const std::vector<bool>& done) const {
    const auto first_stuck = std::find(done.begin(), done.end(), false);
    BRIGADE_CHECK(first_stuck != done.end());
    std::vector<size_t> path = {static_cast<size_t>(first_stuck - done.begin())};
    while (true) {
      // Waits on other ranks come last in the list; preferring them keeps the cycle short.
      const std::vector<size_t>& waits = waits_[path.back()];
      const auto next =
          std::find_if(waits.rbegin(), waits.rend(), [&](size_t node) { return !done[node]; });
      BRIGADE_CHECK(next != waits.rend());
      const auto seen = std::find(path.begin(), path.end(), *next);
      if (seen != path.end()) {
        return {seen, path.end()};
      }
      path.push_back(*next);
    }
  }

  const Place& place(size_t node) const { return places_[node]; }

 private:
  const Action& action(size_t node) const {
    return schedule_.per_rank[places_[node].rank][places_[node].index];
  }

  const Schedule& schedule_;
  std::vector<Place> places_;
  std::vector<std::vector<size_t>> waits_;
};

}  // namespace

std::string describe(const Schedule& schedule, Place place) {
  const std::vector<Action>& row = schedule.per_rank[place.rank];
  return concat("rank ",
                place.rank,
                ", action ",
                place.index,
                ": ",
                to_string(row[place.index]),
                " (after ",
                place.index == 0 ? "the start" : to_string(row[place.index - 1]),
                ", before ",
                place.index + 1 == row.size() ? "the end" : to_string(row[place.index + 1]),
                ")");
}

Result<void> check_tail(const Schedule& schedule) {
  for (size_t rank = 0; rank < schedule.per_rank.size(); ++rank) {
    const std::vector<Action>& row = schedule.per_rank[rank];
    size_t next = 0;
    for (size_t index = 0; index < row.size(); ++index) {
      const bool in_order = next < kTail.size() ? row[index].kind == kTail[next] : false;
      if (in_order) {
        ++next;
      } else if (next > 0 || is_tail(row[index].kind)) {
        return fail(ErrorCode::kUsage,
                    concat("schedule: ",
                           describe(schedule, {rank, index}),
                           " expected ",
                           next < kTail.size() ? to_string(kTail[next]) : "the end",
                           " there: the end of a step is ",
                           "END_REDUCE, EXCHANGE_TIED, NORM, OPT_STEP, GATHER_PARAMS, each once"));
      }
    }
    if (next < kTail.size()) {
      return fail(ErrorCode::kUsage,
                  concat("schedule: rank ", rank, " ends without ", to_string(kTail[next])));
    }
  }
  return {};
}

Result<void> check_channels(const Schedule& schedule) {
  const auto sent = channels(schedule, false);
  const auto received = channels(schedule, true);
  for (const auto& [channel, receives] : received) {
    // Sends and receives are known to pair one to one, so both ends have equally many.
    const std::vector<Entry>& sends = sent.at(channel);
    BRIGADE_CHECK(sends.size() == receives.size(), sends.size(), receives.size());
    for (size_t i = 0; i < receives.size(); ++i) {
      if (sends[i].message != receives[i].message) {
        return fail(ErrorCode::kUsage,
                    concat("schedule: message ",
                           i,
                           " from rank ",
                           std::get<0>(channel),
                           " to rank ",
                           std::get<1>(channel),
                           " differs between the two ends: sent by ",
                           describe(schedule, sends[i].place),
                           ", received by ",
                           describe(schedule, receives[i].place)));
      }
    }
  }
  return {};
}

Result<void> check_acyclic(const Schedule& schedule) {
  const WaitGraph graph(schedule);
  const std::vector<bool> done = graph.run();
  if (std::find(done.begin(), done.end(), false) == done.end()) {
    return {};
  }
  std::string text = "schedule: these actions wait for each other in a cycle:";
  for (const size_t node : graph.cycle(done)) {
    text += concat("\n  ", describe(schedule, graph.place(node)), " waits for");
  }
  return fail(ErrorCode::kUsage, text + "\n  the first of them");
}

}  // namespace brigade::schedule
