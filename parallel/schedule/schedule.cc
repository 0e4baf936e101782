// SPDX-License-Identifier: Apache-2.0
#include "parallel/schedule/schedule.h"

#include <array>
#include <cctype>
#include <numeric>
#include <optional>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "parallel/schedule/generators.h"
#include "parallel/schedule/lowering.h"

namespace brigade::schedule {
namespace {

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower) {
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return lower;
}

}  // namespace

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::kGPipe: return "GPipe";
    case Kind::kOneForwardOneBackward: return "1F1B";
  }
  BRIGADE_CHECK(false, static_cast<int>(kind));
}

Result<Kind> parse_kind(std::string_view name) {
  static constexpr std::array kKinds = {Kind::kGPipe, Kind::kOneForwardOneBackward};
  std::vector<std::string> names;
  std::optional<std::string> nearest;
  for (const Kind kind : kKinds) {
    if (name == to_string(kind)) {
      return kind;
    }
    names.emplace_back(to_string(kind));
    if (in_lower_case(name) == in_lower_case(names.back())) {
      nearest = names.back();
    }
  }
  nearest = nearest ? nearest : nearest_name(name, names);
  return fail(ErrorCode::kUsage,
              concat("expected a pipeline schedule, one of ",
                     join(names),
                     nearest ? concat(" (did you mean ", *nearest, "?)") : std::string(),
                     "; found \"",
                     name,
                     "\""));
}

Result<Schedule> generate(const Request& request) {
  if (request.ranks < 1 || request.microbatches < 1) {
    return fail(ErrorCode::kUsage,
                concat("a schedule needs at least 1 pipeline rank and 1 microbatch; found ",
                       request.ranks,
                       " ranks and ",
                       request.microbatches,
                       " microbatches"));
  }
  Header header{
      request.kind, request.ranks, request.microbatches, request.ranks, std::vector<int64_t>()};
  header.rank_of_stage.resize(static_cast<size_t>(header.stages));
  std::iota(header.rank_of_stage.begin(), header.rank_of_stage.end(), int64_t{0});
  std::vector<std::vector<Action>> rows;
  for (int64_t rank = 0; rank < request.ranks; ++rank) {
    rows.push_back(compute_row(request.kind, request.ranks, request.microbatches, rank));
  }
  return lower(header, rows);
}

}  // namespace brigade::schedule
