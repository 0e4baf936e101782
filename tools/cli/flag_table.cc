// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/flag_table.h"

#include <algorithm>
#include <optional>

#include <gflags/gflags.h>

#include "parallel/base/text.h"

namespace brigade::cli {
namespace {

struct Written {
  std::string name;
  std::optional<std::string> value;
};

/// "--print-config=true" -> {"print_config", "true"}.
Written written(const std::string& argument) {
  const size_t begin = argument.find_first_not_of('-');
  const size_t equals = argument.find('=');
  Written flag;
  flag.name = begin == std::string::npos ? "" : argument.substr(begin, equals - begin);
  std::replace(flag.name.begin(), flag.name.end(), '-', '_');
  flag.name = flag.name == "h" ? "help" : flag.name;
  if (equals != std::string::npos) {
    flag.value = argument.substr(equals + 1);
  }
  return flag;
}

gflags::CommandLineFlagInfo info(const KnownFlag& known) {
  return gflags::GetCommandLineFlagInfoOrDie(known.library);
}

class FlagSetter {
 public:
  FlagSetter(std::span<const KnownFlag> known,
             const std::vector<std::string>& arguments,
             const std::string& positional,
             const std::string& other)
      : known_(known), arguments_(arguments), positional_(positional), other_(other) {}

  Result<void> run() {
    while (at_ < arguments_.size()) {
      if (Result<void> set = set_next(); !set) {
        return set;
      }
    }
    return {};
  }

 private:
  Result<void> set_next() {
    const std::string& argument = arguments_[at_++];
    if (argument.empty() || argument[0] != '-') {
      return fail(ErrorCode::kUsage, concat("unexpected argument `", argument, "`; ", positional_));
    }
    Written flag = written(argument);
    const Result<const KnownFlag*> known = find(argument, flag.name);
    if (!known) {
      return fail(known.error());
    }
    if (!flag.value) {
      if (info(**known).type == "bool") {
        flag.value = "true";
      } else if (at_ < arguments_.size()) {
        flag.value = arguments_[at_++];
      } else {
        return fail(ErrorCode::kUsage, concat(argument, " needs a value: ", (*known)->shown));
      }
    }
    if (gflags::SetCommandLineOption((*known)->library, flag.value->c_str()).empty()) {
      return fail(ErrorCode::kUsage, concat("not a value of ", argument));
    }
    return {};
  }

  Result<const KnownFlag*> find(const std::string& argument, const std::string& name) const {
    std::vector<std::string> names;
    for (const KnownFlag& known : known_) {
      if (name == known.name) {
        return &known;
      }
      names.emplace_back(known.name);
    }
    const std::optional<std::string> near = nearest_name(name, names);
    std::string hint =
        near ? concat("the nearest is --", *near) : concat("flags are --", join(names, ", --"));
    std::replace(hint.begin(), hint.end(), '_', '-');
    return fail(ErrorCode::kUsage,
                concat("unknown flag ", argument, "; ", hint, other_.empty() ? "" : "; ", other_));
  }

  std::span<const KnownFlag> known_;
  const std::vector<std::string>& arguments_;
  const std::string& positional_;
  const std::string& other_;
  size_t at_ = 0;
};

}  // namespace

Result<void> set_flags(std::span<const KnownFlag> known,
                       const std::vector<std::string>& arguments,
                       const std::string& positional,
                       const std::string& other) {
  return FlagSetter(known, arguments, positional, other).run();
}

std::string flags_help(std::span<const KnownFlag> known) {
  constexpr size_t kWidth = 22;
  std::string out;
  for (const KnownFlag& flag : known) {
    std::string shown = flag.shown;
    shown.resize(std::max(shown.size() + 1, kWidth), ' ');
    out += concat("  ", shown, info(flag).description, '\n');
  }
  return out;
}

}  // namespace brigade::cli
