// SPDX-License-Identifier: Apache-2.0
#include "tools/explain/explain.h"

#include <algorithm>
#include <ostream>

#include <nlohmann/json.hpp>

#include "parallel/base/text.h"
#include "parallel/tensor/ledger_report.h"
#include "tools/explain/step_ledger.h"
#include "tools/train/flags.h"
#include "trainer/config/load.h"
#include "trainer/launch/exit_code.h"

namespace brigade::explain {
namespace {

constexpr char kUsage[] =
    "usage: brigade explain --config=FILE --ledger [--json] [section.key=value ...]\n\n"
    "Runs one step of the recipe on synthetic tokens, all ranks in this process, and prints every\n"
    "collective with the cast that asked for it, its bytes and its reason.\n\n"
    "  --ledger       the collectives of a training step, by group\n"
    "  --json         as one JSON object\n"
    "  --config=FILE  the recipe\n";

bool take(std::vector<std::string>& arguments, const std::string& flag) {
  return std::erase(arguments, flag) > 0;
}

std::string heading(const StepLedgers& step, const StageLedger& stage) {
  std::string text = step.stages.size() == 1 ? "" : concat("pipeline stage ", stage.stage, ", ");
  return concat(text,
                stage.first_rank == stage.last_rank
                    ? concat("rank ", stage.first_rank)
                    : concat("ranks ", stage.first_rank, "-", stage.last_rank));
}

void print(const StepLedgers& step, std::ostream& out) {
  out << "One training step on " << step.world.to_string()
      << "; bytes are those of the whole group, as rank 0 of each group of ranks sees it.\n";
  for (const StageLedger& stage : step.stages) {
    out << '\n' << heading(step, stage) << '\n' << tensor::to_table(stage.ledger, step.stage_mesh);
  }
}

void print_json(const StepLedgers& step, std::ostream& out) {
  nlohmann::ordered_json stages = nlohmann::ordered_json::array();
  for (const StageLedger& stage : step.stages) {
    stages.push_back(
        {{"stage", stage.stage},
         {"first_rank", stage.first_rank},
         {"last_rank", stage.last_rank},
         {"ledger",
          nlohmann::ordered_json::parse(tensor::to_json(stage.ledger, step.stage_mesh))}});
  }
  out << nlohmann::ordered_json{{"mesh", step.world.to_string()}, {"stages", stages}}.dump(2)
      << '\n';
}

int wrong(const Error& error, std::ostream& err) {
  err << "brigade explain: " << error.text << '\n';
  return launch::exit_code(error.code);
}

}  // namespace

int explain(const std::vector<std::string>& command_line, std::ostream& out, std::ostream& err) {
  std::vector<std::string> arguments(command_line.begin() + 2, command_line.end());
  const bool ledger = take(arguments, "--ledger");
  const bool json = take(arguments, "--json");
  const Result<train::Flags> flags = train::parse_flags(arguments);
  if (!flags) {
    return wrong(flags.error(), err);
  }
  if (flags->help || !ledger) {
    (flags->help ? out : err) << kUsage;
    return flags->help ? launch::kExitDone : launch::kExitUsage;
  }
  const Result<config::RunConfig> config = config::load(flags->config, flags->overrides);
  if (!config) {
    return wrong(config.error(), err);
  }
  const Result<StepLedgers> step = step_ledgers(*config);
  if (!step) {
    return wrong(step.error(), err);
  }
  json ? print_json(*step, out) : print(*step, out);
  return launch::kExitDone;
}

}  // namespace brigade::explain
