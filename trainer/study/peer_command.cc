// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/peer_command.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "parallel/base/check.h"
#include "parallel/base/text.h"

namespace brigade::study {
namespace {

constexpr char kLiteral[] = "; write {{ and }} for the braces themselves";

/// Copies `command`, with `value_of` each name in braces.
Result<std::string> replaced(
    std::string_view command,
    const std::function<Result<std::string>(const std::string& name)>& value_of) {
  std::string out;
  for (size_t at = 0; at < command.size(); ++at) {
    const char c = command[at];
    if (c != '{' && c != '}') {
      out += c;
      continue;
    }
    if (at + 1 < command.size() && command[at + 1] == c) {
      out += c;
      ++at;
      continue;
    }
    const size_t end = c == '{' ? command.find_first_of("{}", at + 1) : std::string_view::npos;
    if (end == std::string_view::npos || command[end] != '}') {
      return fail(ErrorCode::kUsage,
                  concat("the brace ", c, " at character ", at + 1, " has no partner", kLiteral));
    }
    const Result<std::string> value = value_of(std::string(command.substr(at + 1, end - at - 1)));
    if (!value) {
      return value;
    }
    out += *value;
    at = end;
  }
  return out;
}

Result<std::string> known(const std::string& name) {
  const std::vector<std::string>& all = placeholders();
  if (std::find(all.begin(), all.end(), name) != all.end()) {
    return std::string();
  }
  const std::optional<std::string> near = nearest_name(name, all);
  return fail(ErrorCode::kUsage,
              concat("there is no {",
                     name,
                     "}; ",
                     near ? concat("the nearest is {", *near, '}')
                          : concat("there are {", join(all, "} {"), '}'),
                     kLiteral));
}

}  // namespace

const std::vector<std::string>& placeholders() {
  static const std::vector<std::string> kNames = {"ranks",
                                                  "threads",
                                                  "flavor",
                                                  "model",
                                                  "mesh",
                                                  "dp",
                                                  "tp",
                                                  "pp",
                                                  "zero",
                                                  "schedule",
                                                  "batch",
                                                  "micro",
                                                  "seq_len",
                                                  "steps",
                                                  "warmup"};
  return kNames;
}

Result<void> check_template(std::string_view command) {
  const Result<std::string> filled = replaced(command, known);
  return filled ? Result<void>() : fail(filled.error());
}

std::string fill(std::string_view command, const std::map<std::string, std::string>& values) {
  const Result<std::string> filled = replaced(
      command, [&values](const std::string& name) { return Result<std::string>(values.at(name)); });
  BRIGADE_CHECK(filled.has_value(), command);
  return *filled;
}

}  // namespace brigade::study
