// SPDX-License-Identifier: Apache-2.0
#include "tools/train/train.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "parallel/base/text.h"
#include "tools/train/flags.h"
#include "trainer/config/load.h"
#include "trainer/config/print.h"
#include "trainer/config/resolve.h"
#include "trainer/data/sources.h"
#include "trainer/launch/failure_report.h"
#include "trainer/launch/spawn.h"
#include "trainer/metrics/run_folder.h"

namespace brigade::train {
namespace {

constexpr int64_t kMostRanks = 4096;

constexpr char kUsage[] =
    " --config=FILE [--flag=value ...] [section.key=value ...]\n\n"
    "Runs the model that the recipe describes. Ranks are started here unless a launcher\n"
    "(torchrun, mpirun, srun, Kubernetes) started this process as one.\n\n";

constexpr char kEnds[] =
    "\nExit codes: 0 done, 1 failed, 2 wrong usage or config, 75 stopped early with a checkpoint\n"
    "saved (the same command goes on from it), 128 + n ended by signal n. With checkpoint.enable\n"
    "a run stops early on SIGTERM, on SIGUSR1, and when there is a file STOP in its folder.\n";

int wrong(const Error& error, const Invocation& invocation, std::ostream& err) {
  err << invocation.name << ": " << error.text << '\n';
  return launch::kExitUsage;
}

Result<launch::RankIdentity> who_am_i(const Flags& flags) {
  launch::Environment environment = launch::current_environment();
  const auto set = [&environment](const char* name, const std::string& value) {
    if (!value.empty()) {
      environment[name] = value;
    }
  };
  set("BRIGADE_RANK", flags.rank);
  set("BRIGADE_WORLD_SIZE", flags.world_size);
  set("BRIGADE_MASTER_ADDR", flags.master_addr);
  set("BRIGADE_MASTER_PORT", flags.master_port);
  return launch::identify(environment);
}

/// Runs the rank and turns every way to fail into one Error.
Result<launch::RunEnd> guarded(const RunRank& run_rank,
                               const config::RunConfig& config,
                               const launch::RankIdentity& who) {
  try {
    return run_rank(config, who);
  } catch (const Exception& exception) {
    return fail(exception.error());
  } catch (const std::exception& exception) {
    return fail(ErrorCode::kInternal, exception.what());
  }
}

int be_a_rank(const RunRank& run_rank,
              const config::RunConfig& config,
              const launch::RankIdentity& who,
              std::ostream& err) {
  const Result<launch::RunEnd> done = guarded(run_rank, config, who);
  if (done) {
    return launch::exit_code(*done);
  }
  const int code = launch::exit_code(done.error().code);
  // The launcher prints the origin's words; without one this rank does.
  if (!launch::report_failure({done.error().origin_rank, code, done.error().text})) {
    const bool other = done.error().origin_rank >= 0 && done.error().origin_rank != who.rank;
    err << "brigade: rank " << (other ? done.error().origin_rank : who.rank) << " of "
        << who.world_size << " failed: " << done.error().text << '\n';
  }
  return code;
}

/// Whether a run before this one left a checkpoint to go on from.
bool goes_on(const config::RunConfig& config) {
  constexpr std::string_view kStep = "step-";
  std::error_code none;
  const auto folder = std::filesystem::path(config.job.dump_folder) / config.checkpoint.folder;
  if (!config.checkpoint.enable) {
    return false;
  }
  std::filesystem::directory_iterator entries(folder, none);
  return std::any_of(begin(entries), end(entries), [&](const auto& entry) {
    return entry.path().filename().string().starts_with(kStep);
  });
}

int start_ranks(const std::vector<std::string>& command_line,
                const config::RunConfig& config,
                int ranks,
                std::ostream& out,
                std::ostream& err) {
  const std::string& folder = config.job.dump_folder;
  const Result<void> made = metrics::make_run_folder(folder);
  if (!made) {
    err << "brigade train: " << made.error().text << '\n';
    return launch::kExitFailed;
  }
  out << "starting " << ranks << " ranks on this machine, told by "
      << (config.parallelism.data_parallel_shard_degree == -1 ? "launch.ranks"
                                                              : "the product of the degrees")
      << "; logs: " << folder << "/rank_*.log" << std::endl;
  launch::SpawnOptions options;
  options.log_folder = folder;
  options.console = &err;
  options.append_logs = goes_on(config);
  if (config.checkpoint.enable) {
    // Ranks that are told to stop end their step and save before they leave.
    options.stop_grace = std::chrono::seconds(config.comm.train_timeout_seconds) +
                         std::chrono::seconds(config.checkpoint.save_timeout_seconds);
  }
  return launch::spawn(ranks, command_line, options);
}

int run(const std::vector<std::string>& command_line,
        const config::RunConfig& config,
        const launch::RankIdentity& who,
        const RunRank& run_rank,
        std::ostream& out,
        std::ostream& err,
        const Invocation& invocation) {
  const int64_t world = who.launched() ? who.world_size : config::wanted_ranks(config);
  const Result<config::RunFacts> facts = config::resolve(config, world);
  if (!facts) {
    return wrong(facts.error(), invocation, err);
  }
  if (!who.launched()) {
    // Each rank would find the same, but eight ranks take long to say what one process can.
    if (const Result<data::Sources> sources = data::open_sources(config); !sources) {
      err << "brigade train: " << sources.error().text << '\n';
      return launch::exit_code(sources.error().code);
    }
  }
  if (!who.launched() && world > kMostRanks) {
    return wrong({ErrorCode::kUsage,
                  concat("the degrees ask for ",
                         world,
                         " ranks; on one machine at most ",
                         kMostRanks,
                         " are started"),
                  -1},
                 invocation,
                 err);
  }
  if (!who.launched() && world > 1) {
    return start_ranks(command_line, config, static_cast<int>(world), out, err);
  }
  return be_a_rank(run_rank, config, who, err);
}

}  // namespace

int train(const std::vector<std::string>& command_line,
          const RunRank& run_rank,
          std::ostream& out,
          std::ostream& err,
          const Invocation& invocation) {
  const auto first_argument = command_line.begin() + static_cast<std::ptrdiff_t>(invocation.words);
  const Result<Flags> flags = parse_flags({first_argument, command_line.end()});
  if (!flags) {
    return wrong(flags.error(), invocation, err);
  }
  if (flags->help) {
    out << "usage: " << invocation.name << kUsage << flags_help() << kEnds
        << "\nThe keys of a recipe (type, default):\n\n"
        << config::keys_help();
    return launch::kExitDone;
  }
  const Result<config::RunConfig> config = config::load(flags->config, flags->overrides);
  if (!config) {
    return wrong(config.error(), invocation, err);
  }
  if (flags->print_config) {
    out << config::to_toml(*config);
    return launch::kExitDone;
  }
  const Result<launch::RankIdentity> who = who_am_i(*flags);
  if (!who) {
    return wrong(who.error(), invocation, err);
  }
  const bool our_child = std::getenv(launch::kReportVariable) != nullptr;
  if (config->job.print_config && who->rank == 0 && !our_child) {
    out << config::to_toml(*config) << std::flush;
  }
  return run(command_line, *config, *who, run_rank, out, err, invocation);
}

}  // namespace brigade::train
