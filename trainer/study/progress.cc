// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/progress.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iomanip>
#include <numeric>
#include <sstream>

#include "parallel/base/text.h"

namespace brigade::study {
namespace {

/// How many characters it takes, not how many bytes.
size_t width_of(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80;
  }));
}

using Row = std::vector<std::string>;

/// Columns as wide as their widest cell, two spaces apart.
std::string table_text(const std::vector<Row>& rows) {
  std::vector<size_t> widths(rows.front().size());
  for (const Row& row : rows) {
    for (size_t column = 0; column < row.size(); ++column) {
      widths[column] = std::max(widths[column], width_of(row[column]));
    }
  }
  std::string out;
  for (const Row& row : rows) {
    std::string line;
    for (size_t column = 0; column < row.size(); ++column) {
      line += row[column] + std::string(widths[column] + 2 - width_of(row[column]), ' ');
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return out;
}

bool alike(const scaling::Point& a, const scaling::Point& b) {
  return a.peer == b.peer && a.model == b.model && a.ranks == b.ranks && a.threads == b.threads;
}

Row row_of(const PlannedPoint& planned, const TimeGuess::Guess& guess) {
  const scaling::Point& point = planned.point;
  const Degrees degrees = value_or_throw(parse_degrees(point.mesh));
  return {point.id,
          concat(point.ranks),
          concat(point.threads),
          to_string(degrees),
          degrees.dp_shard > 1 ? concat(point.zero_stage) : "-",
          point.schedule.empty() ? "-" : point.schedule,
          concat(point.microbatch_size),
          concat(point.global_batch_size),
          point.model,
          concat(guess.rough ? "~ " : "", duration_words(guess.seconds)),
          point.oversubscribed ? "oversubscribed" : ""};
}

}  // namespace

TimeGuess::TimeGuess(const Grid& grid, const Study& study, int64_t cores)
    : grid_(grid),
      cores_(cores),
      steps_(study.warmup_steps + study.steps),
      timeout_seconds_(static_cast<double>(study.timeout_seconds)),
      took_(grid.points.size()) {}

void TimeGuess::took(size_t point, double seconds) {
  took_.at(point).push_back(seconds);
}

TimeGuess::Guess TimeGuess::of(size_t point) const {
  const PlannedPoint& wanted = grid_.points.at(point);
  std::vector<double> seen = took_.at(point);
  for (size_t other = 0; seen.empty() && other < took_.size(); ++other) {
    if (alike(grid_.points[other].point, wanted.point)) {
      seen = took_[other];
    }
  }
  if (!seen.empty()) {
    const double sum = std::accumulate(seen.begin(), seen.end(), 0.0);
    return {sum / static_cast<double>(seen.size()), false};
  }
  const int64_t busy = std::min(cores_, wanted.point.ranks * wanted.point.threads);
  const double flops = wanted.step_flops * static_cast<double>(steps_);
  const double seconds =
      kGuessedStartSeconds + flops / (kGuessedFlopsPerCore * static_cast<double>(busy));
  return {std::min(seconds, timeout_seconds_), true};
}

std::string duration_words(double seconds) {
  constexpr int64_t kMinute = 60;
  constexpr int64_t kHour = 3600;
  if (!std::isfinite(seconds)) {
    return "?";
  }
  const auto whole = static_cast<int64_t>(std::llround(std::max(0.0, seconds)));
  std::ostringstream out;
  out << std::setfill('0');
  if (whole < kMinute) {
    out << whole << " s";
  } else if (whole < kHour) {
    out << whole / kMinute << " min " << std::setw(2) << whole % kMinute << " s";
  } else {
    out << whole / kHour << " h " << std::setw(2) << whole % kHour / kMinute << " min";
  }
  return out.str();
}

std::string progress_line(int64_t done, int64_t all, double seconds_left) {
  constexpr int64_t kWidth = 30;
  const int64_t total = std::max<int64_t>(1, all);
  const int64_t full = std::clamp<int64_t>(kWidth * done / total, 0, kWidth);
  std::string bar(static_cast<size_t>(full), '=');
  if (full < kWidth) {
    bar += '>' + std::string(static_cast<size_t>(kWidth - full - 1), ' ');
  }
  const std::string left =
      done < all && seconds_left >= 0 ? concat("  ", duration_words(seconds_left), " left") : "";
  return concat('[', bar, "] ", done, '/', all, " runs", left);
}

std::string list_text(const Grid& grid, const Study& study, const TimeGuess& guess) {
  std::vector<Row> rows = {{"point",
                            "ranks",
                            "threads",
                            "mesh",
                            "ZeRO",
                            "schedule",
                            "microbatch",
                            "batch",
                            "model",
                            "one run",
                            ""}};
  double seconds = 0;
  bool rough = false;
  for (size_t point = 0; point < grid.points.size(); ++point) {
    const TimeGuess::Guess one = guess.of(point);
    rows.push_back(row_of(grid.points[point], one));
    seconds += one.seconds * static_cast<double>(study.repeats);
    rough = rough || one.rough;
  }
  const auto points = static_cast<int64_t>(grid.points.size());
  std::string out = concat(study.name,
                           ": ",
                           to_string(study.scaling),
                           " scaling; ",
                           grid.constant,
                           '\n',
                           table_text(rows),
                           counted(points, "point"),
                           " x ",
                           counted(study.repeats, "repeat"),
                           " = ",
                           counted(points * study.repeats, "run"),
                           " of ",
                           study.steps,
                           " steps after ",
                           study.warmup_steps,
                           " of warm-up: about ",
                           duration_words(seconds),
                           '\n');
  if (rough) {
    out += concat("~: a rough guess from ",
                  kGuessedFlopsPerCore / 1e9,
                  " GFLOP/s a core and a start of ",
                  kGuessedStartSeconds,
                  " s; what has run makes it better\n");
  }
  if (!grid.refused.empty()) {
    out +=
        concat(counted(static_cast<int64_t>(grid.refused.size()), "combination"), " cannot run:\n");
  }
  for (const RefusedPoint& refused : grid.refused) {
    out += concat("  ", refused.id, ": ", refused.reason, '\n');
  }
  return out;
}

}  // namespace brigade::study
