// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/mesh_choice.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "parallel/base/text.h"

namespace brigade::study {
namespace {

constexpr int64_t kMostRanks = 4096;

using Member = int64_t Degrees::*;

struct Axis {
  std::string_view name;
  Member member;
};
/// As a study names them, in the order in which one grows.
constexpr std::array kAxes = {Axis{"dp", &Degrees::dp_shard},
                              Axis{"dp_replicate", &Degrees::dp_replicate},
                              Axis{"tp", &Degrees::tp},
                              Axis{"pp", &Degrees::pp}};

constexpr char kAccepted[] =
    "a mesh is a rule (dp, dp_replicate, tp or pp: all ranks along that axis) or sizes such as "
    "\"dp2 x tp2\"";

std::optional<Member> axis_named(std::string_view name) {
  if (name == "dp_shard") {
    return &Degrees::dp_shard;
  }
  const auto* found = std::find_if(
      kAxes.begin(), kAxes.end(), [name](const Axis& axis) { return axis.name == name; });
  return found == kAxes.end() ? std::nullopt : std::optional<Member>(found->member);
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  return first == std::string_view::npos
             ? std::string_view()
             : text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

std::vector<std::string_view> factors(std::string_view text) {
  std::vector<std::string_view> out;
  while (true) {
    const size_t end = text.find('x');
    out.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) {
      return out;
    }
    text.remove_prefix(end + 1);
  }
}

/// "tp2" and "tp=2" -> tp and 2.
std::optional<std::pair<Member, int64_t>> factor(std::string_view text) {
  const size_t digit = text.find_first_of("0123456789");
  if (digit == std::string_view::npos) {
    return std::nullopt;
  }
  std::string_view name = trimmed(text.substr(0, digit));
  if (name.ends_with('=')) {
    name = trimmed(name.substr(0, name.size() - 1));
  }
  const std::optional<Member> axis = axis_named(name);
  int64_t size = 0;
  const auto [end, error] = std::from_chars(text.data() + digit, text.data() + text.size(), size);
  const bool number = error == std::errc() && end == text.data() + text.size();
  if (!axis || !number || size < 1 || size > kMostRanks) {
    return std::nullopt;
  }
  return std::pair(*axis, size);
}

}  // namespace

std::string to_string(const Degrees& degrees) {
  std::vector<std::string> parts;
  for (const Axis& axis : kAxes) {
    if (degrees.*axis.member > 1) {
      parts.push_back(concat(axis.name, degrees.*axis.member));
    }
  }
  return parts.empty() ? "one rank" : join(parts, " x ");
}

std::string family_of(const Degrees& degrees) {
  std::vector<std::string> parts;
  for (const Axis& axis : kAxes) {
    const int64_t size = degrees.*axis.member;
    if (size > 1) {
      parts.push_back(parts.empty() ? std::string(axis.name) : concat(axis.name, size));
    }
  }
  return parts.empty() ? "one rank" : join(parts, " x ");
}

bool is_rule(std::string_view text) {
  return axis_named(text).has_value();
}

Result<Degrees> parse_degrees(std::string_view text) {
  Degrees degrees;
  std::set<int64_t*> given;
  for (const std::string_view part : factors(text)) {
    const auto parsed = factor(part);
    if (!parsed) {
      return fail(ErrorCode::kUsage, concat(kAccepted, "; found \"", part, "\" in \"", text, '"'));
    }
    int64_t& member = degrees.*parsed->first;
    if (!given.insert(&member).second) {
      return fail(ErrorCode::kUsage, concat("an axis stands twice in the mesh \"", text, '"'));
    }
    member = parsed->second;
  }
  return degrees;
}

Result<MeshChoice> mesh_choice(const std::string& text, int64_t ranks) {
  if (const std::optional<Member> axis = axis_named(text)) {
    Degrees degrees;
    degrees.** axis = ranks;
    return MeshChoice{text, text == "dp_shard" ? "dp" : text, degrees};
  }
  const Result<Degrees> degrees = parse_degrees(text);
  if (!degrees) {
    return fail(degrees.error());
  }
  if (degrees->ranks() != ranks) {
    return fail(ErrorCode::kUsage,
                concat("the mesh \"", text, "\" is for ", degrees->ranks(), " ranks, not ", ranks));
  }
  return MeshChoice{text, family_of(*degrees), *degrees};
}

}  // namespace brigade::study
