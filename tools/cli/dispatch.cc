// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/dispatch.h"

#include <algorithm>
#include <iomanip>
#include <optional>

#include "parallel/base/text.h"
#include "trainer/launch/exit_code.h"

namespace brigade::cli {
namespace {

void print_usage(const std::vector<Subcommand>& subcommands, std::ostream& out) {
  out << "usage: brigade SUBCOMMAND [--flag=value ...] [section.key=value ...]\n\n";
  for (const Subcommand& subcommand : subcommands) {
    out << "  " << std::left << std::setw(10) << subcommand.name << subcommand.summary << '\n';
  }
  out << "\nbrigade SUBCOMMAND --help says more; brigade --version names this build.\n"
         "exit codes: 0 done, 1 failed, 2 usage or config, 75 stopped early, 128+n signal n\n";
}

}  // namespace

int dispatch(const std::vector<Subcommand>& subcommands,
             const Arguments& arguments,
             std::ostream& out,
             std::ostream& err) {
  if (arguments.size() < 2) {
    print_usage(subcommands, err);
    return launch::kExitUsage;
  }
  const std::string& name = arguments[1];
  if (name == "--help" || name == "-h" || name == "help") {
    print_usage(subcommands, out);
    return launch::kExitDone;
  }
  if (name == "--version") {
    out << "brigade " << BRIGADE_VERSION << '\n';
    return launch::kExitDone;
  }
  const auto found =
      std::find_if(subcommands.begin(), subcommands.end(), [&](const Subcommand& subcommand) {
        return subcommand.name == name;
      });
  if (found != subcommands.end()) {
    return found->run(arguments);
  }
  std::vector<std::string> names;
  for (const Subcommand& subcommand : subcommands) {
    names.push_back(subcommand.name);
  }
  const std::optional<std::string> near = nearest_name(name, names);
  err << "brigade: unknown subcommand `" << name << "`; "
      << (near ? concat("the nearest is `", *near, '`') : concat("there are ", join(names)))
      << " (brigade --help)\n";
  return launch::kExitUsage;
}

}  // namespace brigade::cli
