// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/bench.h"

#include <ostream>

#include "tools/bench/checkpoint.h"
#include "tools/bench/ops.h"
#include "tools/bench/step.h"
#include "trainer/launch/exit_code.h"

namespace brigade::bench {
namespace {

constexpr char kUsage[] =
    "usage: brigade bench step --config=FILE [section.key=value ...]\n"
    "       brigade bench checkpoint --config=FILE [section.key=value ...]\n"
    "       brigade bench ops\n\n"
    "  step        times training steps and prints one JSON line\n"
    "  checkpoint  times saving and loading beside a plain file, and prints one JSON line\n"
    "  ops         times what the sharding language adds to libtorch's calls\n";

}  // namespace

int run(const std::vector<std::string>& command_line, std::ostream& out, std::ostream& err) {
  const std::string what = command_line.size() > 2 ? command_line[2] : "";
  if (what == "step") {
    return step(command_line, out, err);
  }
  if (what == "checkpoint") {
    return checkpoint(command_line, out, err);
  }
  if (what == "ops" && command_line.size() == 3) {
    return ops(out);
  }
  const bool asks =
      what == "--help" || what == "-h" || (what == "ops" && command_line.back() == "--help");
  (asks ? out : err) << kUsage;
  return asks ? launch::kExitDone : launch::kExitUsage;
}

}  // namespace brigade::bench
