// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/flags.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "parallel/base/text.h"

namespace brigade::inspect {
namespace {

constexpr char kHelp[] =
    "usage: brigade inspect checkpoint PATH [--verify] [--json]\n"
    "       brigade inspect diff A B [--tolerance=X]\n\n"
    "checkpoint  what the checkpoint in a step folder holds: run, counters, recipe, files, and\n"
    "            which rank wrote which box of each tensor. Of a folder that holds step folders,\n"
    "            a line for each: whole, or why not\n"
    "  --verify       read every byte and name each header and box that is damaged\n"
    "  --json         the same as one JSON object (of a step folder)\n\n"
    "diff        where two step folders differ: tensors (bits, types, shapes), counters, recipe\n"
    "  --tolerance=X  elements whose values differ by at most X count as equal; without it the\n"
    "                 bits have to be\n\n"
    "Exit codes: 0 whole, or equal; 1 unreadable, damaged, or different; 2 wrong usage. Tensors\n"
    "and counters decide whether two checkpoints are equal; recipes are compared and told.\n";

constexpr char kTolerance[] = "--tolerance";

Result<void> set_tolerance(Flags& flags, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value) || value < 0.0) {
    return fail(
        ErrorCode::kUsage,
        concat("--tolerance is a number that is 0 or more, such as 1e-6; it was `", text, "`"));
  }
  flags.tolerance = value;
  return {};
}

tl::unexpected<Error> unknown_flag(const std::string& argument, What what) {
  const std::vector<std::string> known =
      what == What::kDiff ? std::vector<std::string>{kTolerance, "--help"}
                          : std::vector<std::string>{"--verify", "--json", "--help"};
  const std::optional<std::string> near =
      nearest_name(argument.substr(0, argument.find('=')), known);
  return fail(ErrorCode::kUsage,
              concat("unknown flag ",
                     argument,
                     " of ",
                     what == What::kDiff ? "diff" : "checkpoint",
                     "; ",
                     near ? concat("the nearest is ", *near) : concat("flags are ", join(known))));
}

/// Takes `rest[at]`, with its value if that stands apart, and moves `at` past them.
Result<void> take_flag(Flags& flags, const std::vector<std::string>& rest, size_t& at) {
  const std::string& argument = rest[at++];
  const bool of_checkpoint = flags.what == What::kCheckpoint;
  if (of_checkpoint && argument == "--verify") {
    flags.verify = true;
  } else if (of_checkpoint && argument == "--json") {
    flags.json = true;
  } else if (flags.what == What::kDiff && argument == kTolerance) {
    return set_tolerance(flags, at < rest.size() ? rest[at++] : "");
  } else if (flags.what == What::kDiff && argument.starts_with(concat(kTolerance, "="))) {
    return set_tolerance(flags, argument.substr(sizeof(kTolerance)));
  } else {
    return unknown_flag(argument, flags.what);
  }
  return {};
}

Result<What> what_is_asked(const std::vector<std::string>& arguments) {
  const std::vector<std::string> known = {"checkpoint", "diff"};
  if (arguments.empty()) {
    return fail(ErrorCode::kUsage,
                "say what: `checkpoint PATH` or `diff A B`; --help says more of them");
  }
  const std::string& word = arguments[0];
  if (word == known[0] || word == known[1]) {
    return word == known[0] ? What::kCheckpoint : What::kDiff;
  }
  const std::optional<std::string> near = nearest_name(word, known);
  return fail(
      ErrorCode::kUsage,
      concat("there is nothing called `",
             word,
             "` to inspect; ",
             near ? concat("the nearest is ", *near) : "it is `checkpoint PATH` or `diff A B`"));
}

Result<void> check_paths(const Flags& flags) {
  const size_t wanted = flags.what == What::kDiff ? 2 : 1;
  if (flags.paths.size() == wanted) {
    return {};
  }
  return fail(
      ErrorCode::kUsage,
      concat(wanted == 2 ? "diff takes two step folders, A and B" : "checkpoint takes one folder",
             "; given were ",
             flags.paths.size(),
             flags.paths.empty() ? "" : ": ",
             join(flags.paths)));
}

}  // namespace

Result<Flags> parse_flags(const std::vector<std::string>& arguments) {
  Flags flags;
  const auto asks_help = [](const std::string& text) { return text == "--help" || text == "-h"; };
  if (std::any_of(arguments.begin(), arguments.end(), asks_help)) {
    return flags;
  }
  const Result<What> what = what_is_asked(arguments);
  if (!what) {
    return fail(what.error());
  }
  flags.what = *what;
  for (size_t at = 1; at < arguments.size();) {
    if (!arguments[at].starts_with('-')) {
      flags.paths.push_back(arguments[at++]);
    } else if (const Result<void> taken = take_flag(flags, arguments, at); !taken) {
      return fail(taken.error());
    }
  }
  if (const Result<void> enough = check_paths(flags); !enough) {
    return fail(enough.error());
  }
  return flags;
}

std::string help_text() {
  return kHelp;
}

}  // namespace brigade::inspect
