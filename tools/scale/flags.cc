// SPDX-License-Identifier: Apache-2.0
#include "tools/scale/flags.h"

#include <array>

#include <gflags/gflags.h>

#include "parallel/base/text.h"
#include "tools/cli/flag_table.h"

DEFINE_string(scale_config, "", "the study: a TOML file as in configs/studies");
DEFINE_bool(scale_list, false, "say which runs there would be and how long they take; run none");
DEFINE_bool(scale_again, false, "repeat the runs that failed; those that ran are kept");
DEFINE_bool(scale_help, false, "this text");

namespace brigade::scale {
namespace {

constexpr std::array kKnown = {
    cli::KnownFlag{"config", "scale_config", "--config=FILE"},
    cli::KnownFlag{"list", "scale_list", "--list"},
    cli::KnownFlag{"again", "scale_again", "--again"},
    cli::KnownFlag{"help", "scale_help", "--help"},
};

}  // namespace

Result<Flags> parse_flags(const std::vector<std::string>& arguments) {
  const gflags::FlagSaver restore;  // the registry is global; a second parse begins afresh
  if (const Result<void> set = cli::set_flags(
          kKnown, arguments, "the study is --config=FILE; its settings stand in that file");
      !set) {
    return fail(set.error());
  }
  Flags flags = {.config = FLAGS_scale_config,
                 .list = FLAGS_scale_list,
                 .again = FLAGS_scale_again,
                 .help = FLAGS_scale_help};
  if (flags.config.empty() && !flags.help) {
    return fail(ErrorCode::kUsage,
                "--config=FILE is missing: a study such as configs/studies/two_ranks.toml");
  }
  return flags;
}

std::string help_text() {
  return concat("usage: brigade scale --config=FILE [--list] [--again]\n\n",
                cli::flags_help(kKnown),
                "\nRuns every point of a study as `brigade train`, in a shuffled order, and writes "
                "scale.html,\nscale.json and scale.csv into the study's output_folder. A study "
                "that was stopped goes on\nwhere it was with the same command. docs/SCALING.md "
                "says what each number means.\n\nExit codes: 0 measured; 1 no point could be "
                "measured, or the disk failed; 2 wrong usage or\nstudy; 75 stopped by SIGINT or "
                "SIGTERM, with what was measured written.\n");
}

}  // namespace brigade::scale
