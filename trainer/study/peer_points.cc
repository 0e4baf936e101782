// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/peer_points.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "parallel/base/text.h"
#include "trainer/study/peer_command.h"

namespace brigade::study {
namespace {

std::map<std::string, std::string> values_of(const PlannedPoint& planned, const Study& study) {
  const scaling::Point& point = planned.point;
  const Degrees degrees = value_or_throw(parse_degrees(point.mesh));
  const size_t space = point.model.find(' ');
  return {{"ranks", concat(point.ranks)},
          {"threads", concat(point.threads)},
          {"model", point.model.substr(0, space)},
          {"flavor", point.model.substr(space + 1)},
          {"mesh", to_string(degrees)},
          {"dp", concat(degrees.data_ranks())},
          {"tp", concat(degrees.tp)},
          {"pp", concat(degrees.pp)},
          {"zero", concat(point.zero_stage)},
          {"schedule", point.schedule.empty() ? "1F1B" : point.schedule},
          {"batch", concat(point.global_batch_size)},
          {"micro", concat(point.microbatch_size)},
          {"seq_len", concat(planned.seq_len)},
          {"steps", concat(study.warmup_steps + study.steps)},
          {"warmup", concat(study.warmup_steps)}};
}

class PeerPlanner {
 public:
  PeerPlanner(const Study& study, const std::vector<std::string>& families, Grid& grid)
      : study_(study), families_(families), grid_(grid), own_series_(grid.series.size()) {}

  Result<void> add(const Peer& peer) {
    std::set<std::string> unused(peer.series.begin(), peer.series.end());
    points_.clear();
    made_.clear();
    for (size_t at = 0; at < own_series_; ++at) {
      bool wanted = peer.series.empty();
      for (const std::string& name : {grid_.series[at].name, families_[at]}) {
        if (std::find(peer.series.begin(), peer.series.end(), name) != peer.series.end()) {
          wanted = true;
          unused.erase(name);
        }
      }
      if (wanted) {
        beside(peer, grid_.series[at]);
      }
    }
    return unused.empty() ? Result<void>()
                          : fail(ErrorCode::kUsage, none_text(peer, *unused.begin()));
  }

 private:
  std::string none_text(const Peer& peer, const std::string& name) const {
    std::vector<std::string> names(families_.begin(), families_.end());
    for (size_t at = 0; at < own_series_; ++at) {
      names.push_back(grid_.series[at].name);
    }
    const std::optional<std::string> near = nearest_name(name, names);
    return concat("peer ",
                  peer.name,
                  " is to run beside \"",
                  name,
                  "\", which is neither a mesh nor a series of this study; ",
                  near ? concat("the nearest is \"", *near, '"')
                       : concat("there are \"", join(names, "\", \""), '"'));
  }

  /// A copy: grid_.series grows.
  void beside(const Peer& peer, const PlannedSeries own) {
    PlannedSeries series = {concat(peer.name, ": ", own.name), {}};
    for (const size_t index : own.points) {
      series.points.push_back(point_beside(peer, index, series.name));
    }
    if (made_.insert(series.points).second) {
      grid_.series.push_back(std::move(series));
    }
  }

  size_t point_beside(const Peer& peer, size_t index, const std::string& series) {
    const PlannedPoint& own = grid_.points[index];
    const std::string command = fill(peer.command, values_of(own, study_));
    const auto found = points_.find(command);
    if (found != points_.end()) {
      return found->second;
    }
    PlannedPoint planned = own;
    planned.command = command;
    planned.settings.clear();
    planned.point.id = concat(peer.name, '-', own.point.id);
    planned.point.peer = peer.name;
    planned.point.series = series;
    points_.emplace(command, grid_.points.size());
    grid_.points.push_back(std::move(planned));
    return grid_.points.size() - 1;
  }

  const Study& study_;
  const std::vector<std::string>& families_;
  Grid& grid_;
  size_t own_series_;
  std::map<std::string, size_t> points_;  ///< of one peer, by command
  std::set<std::vector<size_t>> made_;    ///< its series, by their points
};

}  // namespace

Result<void> add_peers(const Study& study, const std::vector<std::string>& families, Grid& grid) {
  PeerPlanner planner(study, families, grid);
  for (const Peer& peer : study.peers) {
    if (Result<void> added = planner.add(peer); !added) {
      return added;
    }
  }
  return {};
}

}  // namespace brigade::study
