// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <optional>

#include "parallel/base/text.h"
#include "parallel/schedule/lowering.h"
#include "parallel/schedule/schedule.h"

namespace brigade::schedule {
namespace {

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// A number without sign that fills `text`.
std::optional<int64_t> parse_number(std::string_view text) {
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool whole = !text.empty() && text.front() != '-' && error == std::errc() && stop == end;
  return whole ? std::optional(value) : std::nullopt;
}

/// "3F0" or "3B0".
std::optional<Action> parse_compute(std::string_view cell) {
  const size_t letter = cell.find_first_not_of("0123456789");
  if (letter == std::string_view::npos || (cell[letter] != 'F' && cell[letter] != 'B')) {
    return std::nullopt;
  }
  const auto stage = parse_number(cell.substr(0, letter));
  const auto microbatch = parse_number(cell.substr(letter + 1));
  if (!stage || !microbatch) {
    return std::nullopt;
  }
  Action action;
  action.kind = cell[letter] == 'F' ? ActionKind::kForward : ActionKind::kBackward;
  action.stage = StageId(*stage);
  action.microbatch = MicrobatchId(*microbatch);
  return action;
}

Result<std::vector<Action>> parse_row(std::string_view line, size_t row, const Header& header) {
  std::vector<Action> actions;
  const std::vector<std::string_view> cells = split(line, ',');
  for (size_t column = 0; column < cells.size(); ++column) {
    const std::string_view cell = trimmed(cells[column]);
    if (cell.empty()) {
      continue;
    }
    const auto action = parse_compute(cell);
    if (!action || action->stage.value() >= header.stages ||
        action->microbatch.value() >= header.microbatches) {
      return fail(
          ErrorCode::kData,
          concat("schedule file, row ",
                 row + 1,
                 ", column ",
                 column + 1,
                 ": expected <stage>F<microbatch> or <stage>B<microbatch> with stage below ",
                 header.stages,
                 " and microbatch below ",
                 header.microbatches,
                 "; found \"",
                 cell,
                 "\""));
    }
    actions.push_back(*action);
  }
  return actions;
}

/// What must hold of a header before rows can be read under it.
bool is_sound(const Header& header) {
  bool sound = header.ranks >= 1 && header.microbatches >= 1 &&
               std::ssize(header.rank_of_stage) == header.stages;
  for (const int64_t rank : header.rank_of_stage) {
    sound = sound && rank >= 0 && rank < header.ranks;
  }
  return sound;
}

}  // namespace

std::string to_csv(const Schedule& schedule, bool compute_only) {
  std::string text;
  for (const std::vector<Action>& row : schedule.per_rank) {
    std::vector<std::string> cells;
    for (const Action& action : row) {
      if (!compute_only || is_compute(action.kind)) {
        cells.push_back(to_string(action));
      }
    }
    text += join(cells, ",") + "\n";
  }
  return text;
}

Result<Schedule> parse_csv(std::string_view text, const Header& header) {
  if (!is_sound(header)) {
    return fail(validate(Schedule{header, {}}).error());
  }
  while (!text.empty() && text.back() == '\n') {
    text.remove_suffix(1);
  }
  const std::vector<std::string_view> lines = split(text, '\n');
  if (std::ssize(lines) != header.ranks) {
    return fail(ErrorCode::kData,
                concat("schedule file: expected one row for each of ",
                       header.ranks,
                       " pipeline ranks; found ",
                       lines.size(),
                       " rows"));
  }
  std::vector<std::vector<Action>> rows;
  for (size_t row = 0; row < lines.size(); ++row) {
    auto actions = parse_row(lines[row], row, header);
    if (!actions) {
      return fail(std::move(actions.error()));
    }
    rows.push_back(std::move(*actions));
  }
  Schedule schedule = lower(header, rows);
  if (const auto valid = validate(schedule); !valid) {
    return fail(valid.error());
  }
  return schedule;
}

}  // namespace brigade::schedule
