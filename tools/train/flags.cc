// SPDX-License-Identifier: Apache-2.0
#include "tools/train/flags.h"

#include <algorithm>
#include <array>
#include <optional>

#include <gflags/gflags.h>

#include "parallel/base/text.h"
#include "trainer/config/recipe.h"

DEFINE_string(config, "", "the recipe, a TOML file");
DEFINE_bool(print_config, false, "print the recipe with all overrides and defaults, train nothing");
DEFINE_bool(brigade_help, false, "this text");
DEFINE_string(rank, "", "be this rank of a world that was started by hand");
DEFINE_string(world_size, "", "how many ranks that world has");
DEFINE_string(master_addr, "", "where its rank 0 listens");
DEFINE_string(master_port, "", "on which port");

namespace brigade::train {
namespace {

/// The flags of this command; the library's registry holds those of every library too.
struct Known {
  const char* name;     ///< as typed, with underscores
  const char* library;  ///< in gflags' registry, where --help is taken
  const char* shown;
};
constexpr std::array kKnown = {
    Known{"config", "config", "--config=FILE"},
    Known{"print_config", "print_config", "--print-config"},
    Known{"rank", "rank", "--rank=N"},
    Known{"world_size", "world_size", "--world-size=N"},
    Known{"master_addr", "master_addr", "--master-addr=HOST"},
    Known{"master_port", "master_port", "--master-port=N"},
    Known{"help", "brigade_help", "--help"},
};

struct Written {
  std::string name;
  std::optional<std::string> value;
};

/// "--print-config=true" -> {"print_config", "true"}; torchtitan's name of the recipe is ours.
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

Result<const Known*> find(const std::string& argument, const std::string& name) {
  std::vector<std::string> names;
  for (const Known& known : kKnown) {
    if (name == known.name) {
      return &known;
    }
    names.emplace_back(known.name);
  }
  const std::optional<std::string> near = nearest_name(name, names);
  std::string hint =
      near ? concat("the nearest is --", *near) : concat("flags are --", join(names, ", --"));
  std::replace(hint.begin(), hint.end(), '_', '-');
  return fail(
      ErrorCode::kUsage,
      concat("unknown flag ", argument, "; ", hint, "; settings of the run are section.key=value"));
}

gflags::CommandLineFlagInfo info(const Known& known) {
  return gflags::GetCommandLineFlagInfoOrDie(known.library);
}

/// Sets one flag of the registry from `rest[at]`, and moves `at` past what it took.
Result<void> set_flag(const std::vector<std::string>& rest, size_t& at) {
  const std::string& argument = rest[at++];
  if (argument.empty() || argument[0] != '-') {
    return fail(ErrorCode::kUsage,
                concat("unexpected argument `",
                       argument,
                       "`; the recipe is --config=FILE, settings are section.key=value"));
  }
  Written flag = written(argument);
  const Result<const Known*> known = find(argument, flag.name);
  if (!known) {
    return fail(known.error());
  }
  if (!flag.value) {
    if (info(**known).type == "bool") {
      flag.value = "true";
    } else if (at < rest.size()) {
      flag.value = rest[at++];
    } else {
      return fail(ErrorCode::kUsage, concat(argument, " needs a value: ", (*known)->shown));
    }
  }
  if (gflags::SetCommandLineOption((*known)->library, flag.value->c_str()).empty()) {
    return fail(ErrorCode::kUsage, concat("not a value of ", argument));
  }
  return {};
}

}  // namespace

Result<Flags> parse_flags(const std::vector<std::string>& arguments) {
  const gflags::FlagSaver restore;  // the registry is global; a second parse begins afresh
  const config::SplitArguments split = config::split_arguments(arguments);
  for (size_t at = 0; at < split.rest.size();) {
    const Result<void> set = set_flag(split.rest, at);
    if (!set) {
      return fail(set.error());
    }
  }
  Flags flags;
  flags.config = FLAGS_config;
  flags.print_config = FLAGS_print_config;
  flags.help = FLAGS_brigade_help;
  flags.rank = FLAGS_rank;
  flags.world_size = FLAGS_world_size;
  flags.master_addr = FLAGS_master_addr;
  flags.master_port = FLAGS_master_port;
  constexpr std::string_view kRecipe = "job.config_file=";
  for (const std::string& text : split.overrides) {
    if (text.compare(0, kRecipe.size(), kRecipe) == 0) {
      flags.config = text.substr(kRecipe.size());  // torchtitan's spelling
    } else {
      flags.overrides.push_back(text);
    }
  }
  return flags;
}

std::string flags_help() {
  constexpr size_t kWidth = 22;
  std::string out;
  for (const Known& known : kKnown) {
    std::string shown = known.shown;
    shown.resize(std::max(shown.size() + 1, kWidth), ' ');
    out += concat("  ", shown, info(known).description, '\n');
  }
  return out;
}

}  // namespace brigade::train
