// SPDX-License-Identifier: Apache-2.0
#include "trainer/launch/run.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "parallel/base/text.h"
#include "trainer/launch/exit_code.h"
#include "trainer/launch/failure_report.h"
#include "trainer/launch/join_world.h"
#include "trainer/launch/spawn.h"

namespace brigade::launch {
namespace {

using Body = std::function<void(collective::World&)>;

constexpr std::string_view kRanksFlag = "--ranks=";
constexpr int kMostRanks = 1024;

std::vector<std::string> own_command_line() {
  std::ifstream in("/proc/self/cmdline");
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(in, argument, '\0');) {
    arguments.push_back(argument);
  }
  return arguments;
}

/// N of the last --ranks=N; nothing without one.
Result<std::optional<int>> wanted_ranks(const std::vector<std::string>& command_line) {
  std::optional<int> ranks;
  for (const std::string& argument : command_line) {
    if (!argument.starts_with(kRanksFlag)) {
      continue;
    }
    const char* begin = argument.data() + kRanksFlag.size();
    const char* end = argument.data() + argument.size();
    int value = 0;
    const auto read = std::from_chars(begin, end, value);
    if (read.ec != std::errc() || read.ptr != end || value < 1 || value > kMostRanks) {
      return fail(ErrorCode::kUsage,
                  concat("--ranks must be an integer from 1 to ",
                         kMostRanks,
                         ", found \"",
                         std::string_view(begin, end),
                         '"'));
    }
    ranks = value;
  }
  return ranks;
}

/// Else each rank would take all cores.
void share_cores(int ranks) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const std::string threads = std::to_string(std::max(1, cores / ranks));
  setenv("OMP_NUM_THREADS", threads.c_str(), /*overwrite=*/0);
}

Result<void> caught(collective::World& world, const Body& body) {
  try {
    body(world);
    return {};
  } catch (const Exception& exception) {
    return fail(exception.error());
  } catch (const std::exception& exception) {
    return fail(ErrorCode::kInternal, exception.what());
  }
}

Result<void> run_rank(const RankIdentity& who, const Body& body) {
  const Result<std::unique_ptr<collective::World>> world = join_world(who);
  if (!world) {
    return fail(world.error());
  }
  const Result<void> done = caught(**world, body);
  if (done) {
    (*world)->close();
    return {};
  }
  (*world)->abort(done.error());
  return fail((*world)->failure().value_or(done.error()));
}

int be_a_rank(const RankIdentity& who, const Body& body) {
  const Result<void> done = run_rank(who, body);
  if (done) {
    return kExitDone;
  }
  const Error& error = done.error();
  const int code = exit_code(error.code);
  // The launcher prints the origin's words; without one this rank does.
  if (!report_failure({error.origin_rank, code, error.text})) {
    std::cerr << "rank " << (error.origin_rank >= 0 ? error.origin_rank : who.rank) << " of "
              << who.world_size << " failed: " << error.text << std::endl;
  }
  return code;
}

int wrong_usage(const std::string& program, const std::string& text) {
  std::cerr << program << ": " << text << std::endl;
  return kExitUsage;
}

}  // namespace

int run(const Body& body) {
  return run(own_command_line(), body);
}

int run(const std::vector<std::string>& command_line, const Body& body) {
  const Result<std::optional<int>> ranks = wanted_ranks(command_line);
  if (!ranks) {
    return wrong_usage(command_line.front(), ranks.error().text);
  }
  const Result<RankIdentity> who = identify(current_environment());
  if (!who) {
    return wrong_usage(command_line.front(), who.error().text);
  }
  const int wanted = ranks->value_or(who->world_size);
  if (who->launched() && wanted != who->world_size) {
    return wrong_usage(command_line.front(),
                       concat("--ranks=",
                              wanted,
                              " contradicts ",
                              who->told_by,
                              ", which say ",
                              who->world_size,
                              " ranks; leave it out under a launcher"));
  }
  if (!who->launched() && wanted > 1) {
    share_cores(wanted);
    return spawn(wanted, command_line, {});
  }
  return be_a_rank(*who, body);
}

}  // namespace brigade::launch
