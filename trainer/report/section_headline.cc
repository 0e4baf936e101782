// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "parallel/base/text.h"
#include "trainer/report/markup.h"
#include "trainer/report/scaling_sections.h"
#include "trainer/report/study_view.h"

namespace brigade::report {
namespace {

using scaling::Estimate;
using scaling::PointResult;
using scaling::Results;
using scaling::Scaling;

/// What a series reached at its most ranks.
struct Reached {
  const PointResult* point = nullptr;
  int64_t base_ranks = 1;
  Estimate speed_up = {};
  double efficiency = 0;
};

/// Of each series of ours, at its most ranks with (or without) a core for each thread.
std::vector<Reached> all_reached(const Results& results, bool oversubscribed) {
  std::vector<Reached> all;
  for (const auto& series : results.series) {
    Reached reached;
    for (const size_t index : series.points) {
      const PointResult& point = results.points[index];
      const auto gain = speed_up(results, series, index);
      if (gain && index != series.points[0] && point.point.peer.empty() &&
          point.point.oversubscribed == oversubscribed) {
        reached = {&point,
                   results.points[series.points[0]].point.ranks,
                   *gain,
                   efficiency(results, series, index)->value};
      }
    }
    if (reached.point != nullptr) {
      all.push_back(reached);
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Reached& a, const Reached& b) {
    return a.efficiency > b.efficiency;
  });
  return all;
}

int64_t count_if(const Results& results, bool (*holds)(const PointResult&)) {
  return std::count_if(results.points.begin(), results.points.end(), holds);
}

bool failed(const PointResult& result) {
  return !result.failure.empty();
}
bool oversubscribed(const PointResult& result) {
  return result.point.oversubscribed;
}

std::string work(const Results& results) {
  return results.scaling == Scaling::kMemoryConstrained ? "arithmetic" : "tokens";
}

std::string reached_text(const Results& results, const Reached& reached) {
  return concat("On ",
                counted(reached.point->point.ranks, "rank"),
                ", ",
                series_name(reached.point->point),
                " trains ",
                fixed(reached.speed_up.value, 2),
                " times the ",
                work(results),
                " per second of ",
                counted(reached.base_ranks, "rank"),
                ": ",
                percent(reached.efficiency, 0),
                " of ideal");
}

std::string main_result(const Results& results) {
  const int64_t ran = static_cast<int64_t>(results.points.size()) - count_if(results, failed);
  if (results.points.empty()) {
    return "The study has no points.";
  }
  if (ran == 0) {
    return concat(
        "Nothing was measured: ",
        results.points.size() == 1
            ? "the one point"
            : concat("all ", counted(static_cast<int64_t>(results.points.size()), "point")),
        " failed.");
  }
  const std::vector<Reached> own = all_reached(results, false);
  const std::vector<Reached> crowded = all_reached(results, true);
  if (!own.empty()) {
    return reached_text(results, own.front()) + '.';
  }
  if (!crowded.empty()) {
    return reached_text(results, crowded.front()) +
           ", with ranks that share cores: nothing about a machine with a core for each.";
  }
  return concat(counted(ran, "point"),
                " ran, none with more ranks than its series began with: ",
                ran == 1 ? "it says" : "they say",
                " how fast a step is, nothing about scaling.");
}

std::string kind_text(Scaling scaling) {
  switch (scaling) {
    case Scaling::kStrong:
      return "Strong scaling: the global batch and the model stay as they are while ranks are "
             "added.";
    case Scaling::kWeak: return "Weak scaling: the global batch grows with the ranks.";
    case Scaling::kMemoryConstrained:
      return "Memory-constrained scaling: the model grows as far as a rank's memory allows.";
  }
  return "";
}

/// The largest by `value`, with those first whose ranks share no cores.
template <class Value>
const PointResult* best(const Results& results, Value value, const std::string& peer = "") {
  const PointResult* best = nullptr;
  for (const PointResult& point : results.points) {
    if (failed(point) || point.point.peer != peer || !(value(point) > 0)) {
      continue;
    }
    const bool fairer = best != nullptr && best->point.oversubscribed && !oversubscribed(point);
    const bool alike = best != nullptr && best->point.oversubscribed == oversubscribed(point);
    if (best == nullptr || fairer || (alike && value(point) > value(*best))) {
      best = &point;
    }
  }
  return best;
}

double tokens_per_s(const PointResult& point) {
  return point.tokens_per_s.value;
}

/// How others did, with the same model on as many ranks as our fastest point.
std::string peers_text(const Results& results) {
  std::set<std::string> peers;
  for (const PointResult& point : results.points) {
    peers.insert(point.point.peer);
  }
  peers.erase("");
  const PointResult* ours = best(results, tokens_per_s);
  std::string text;
  for (const std::string& peer : peers) {
    const auto comparable = [&](const PointResult& point) {
      const bool alike = ours != nullptr && point.point.ranks == ours->point.ranks &&
                         point.point.model == ours->point.model;
      return alike ? tokens_per_s(point) : 0;
    };
    if (const PointResult* theirs = best(results, comparable, peer)) {
      text += concat(text.empty() ? "" : ", ", peer, ' ', fixed(tokens_per_s(*theirs), 0));
    }
  }
  if (text.empty()) {
    return peers.empty() ? "" : concat(" Measured beside brigade: ", join(peers), '.');
  }
  return concat(" With ",
                ours->point.model,
                " on ",
                counted(ours->point.ranks, "rank"),
                ", brigade trains ",
                fixed(tokens_per_s(*ours), 0),
                " tokens per second, ",
                text,
                '.');
}

std::string lead(const Results& results) {
  std::string text = kind_text(results.scaling);
  const std::vector<Reached> own = all_reached(results, false);
  if (own.size() > 1) {
    const Reached& least = own.back();
    text += concat(" Of ",
                   own.size(),
                   " series, ",
                   series_name(least.point->point),
                   " gains least: ",
                   fixed(least.speed_up.value, 2),
                   " × on ",
                   counted(least.point->point.ranks, "rank"),
                   ", ",
                   percent(least.efficiency, 0),
                   " of ideal.");
  }
  text += peers_text(results);
  if (const int64_t crowded = count_if(results, oversubscribed); crowded > 0) {
    text += concat(" ",
                   counted(crowded, "point"),
                   crowded == 1 ? " is" : " are",
                   " oversubscribed (†, hollow markers): more ranks × threads than the ",
                   counted(results.provenance.cores, "core"),
                   " of this machine, so ranks take turns. Such a point shows that a mesh works, "
                   "not how fast it is.");
  }
  return text;
}

std::string tile(std::string_view name, const std::string& value, const std::string& small) {
  return concat("<div class=\"tile\"><dt>",
                escaped(name),
                "</dt><dd>",
                escaped(value),
                "<small>",
                escaped(small),
                "</small></dd></div>\n");
}

std::string tiles(const Results& results) {
  std::string html;
  std::vector<Reached> own = all_reached(results, false);
  if (own.empty()) {
    own = all_reached(results, true);
  }
  if (!own.empty()) {
    const Reached& first = own.front();
    html += tile("Best efficiency",
                 percent(first.efficiency),
                 concat(point_name(first.point->point),
                        ": ",
                        fixed(first.speed_up.value, 2),
                        " ×, ",
                        fixed(first.speed_up.interval.low, 2),
                        " to ",
                        fixed(first.speed_up.interval.high, 2)));
  }
  if (const PointResult* point = best(results, tokens_per_s)) {
    html +=
        tile("Most tokens per second", fixed(tokens_per_s(*point), 0), point_name(point->point));
  }
  const auto mfu = [](const PointResult& point) { return point.mfu.value_or(0); };
  if (const PointResult* point = best(results, mfu)) {
    html += tile("Highest MFU", percent(mfu(*point)), point_name(point->point));
  }
  const auto all = static_cast<int64_t>(results.points.size());
  const int64_t lost = count_if(results, failed);
  html += tile("Points measured",
               concat(all - lost, " of ", all),
               concat(lost == 0 ? "none" : std::to_string(lost),
                      " failed, ",
                      count_if(results, oversubscribed),
                      " oversubscribed"));
  return concat("<dl class=\"tiles\">\n", html, "</dl>\n");
}

}  // namespace

std::string headline(const Results& results) {
  return concat("<p class=\"eyebrow\">Scaling study · ",
                escaped(results.provenance.study),
                " · ",
                escaped(results.provenance.machine),
                "</p>\n<h1>",
                escaped(main_result(results)),
                "</h1>\n<p class=\"lead\">",
                escaped(lead(results)),
                "</p>\n",
                tiles(results));
}

}  // namespace brigade::report
