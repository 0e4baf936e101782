// SPDX-License-Identifier: Apache-2.0
#include "tools/train/flags.h"

#include <array>

#include <gflags/gflags.h>

#include "tools/cli/flag_table.h"
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

constexpr std::array kKnown = {
    cli::KnownFlag{"config", "config", "--config=FILE"},
    cli::KnownFlag{"print_config", "print_config", "--print-config"},
    cli::KnownFlag{"rank", "rank", "--rank=N"},
    cli::KnownFlag{"world_size", "world_size", "--world-size=N"},
    cli::KnownFlag{"master_addr", "master_addr", "--master-addr=HOST"},
    cli::KnownFlag{"master_port", "master_port", "--master-port=N"},
    cli::KnownFlag{"help", "brigade_help", "--help"},
};

}  // namespace

Result<Flags> parse_flags(const std::vector<std::string>& arguments) {
  const gflags::FlagSaver restore;  // the registry is global; a second parse begins afresh
  const config::SplitArguments split = config::split_arguments(arguments);
  const Result<void> set =
      cli::set_flags(kKnown,
                     split.rest,
                     "the recipe is --config=FILE, settings are section.key=value",
                     "settings of the run are section.key=value");
  if (!set) {
    return fail(set.error());
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
  return cli::flags_help(kKnown);
}

}  // namespace brigade::train
