// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/runner.h"

#include <utility>

#include "parallel/base/text.h"
#include "trainer/checkpoint/utc_time.h"
#include "trainer/metrics/run_folder.h"
#include "trainer/study/run_output.h"

namespace brigade::study {
namespace {

constexpr size_t kLastLines = 12;

std::string console_path(const std::string& folder) {
  return concat(folder, "/console.log");
}

std::string output_path(const std::string& folder) {
  return concat(folder, "/output.log");
}

bool is_peer(const PlannedPoint& planned) {
  return !planned.point.peer.empty();
}

/// Of a peer both outputs, and its errors last.
std::vector<std::string> lines_before_the_end(const PlannedPoint& planned,
                                              const std::string& folder) {
  std::vector<std::string> lines;
  if (is_peer(planned)) {
    lines = last_lines(output_path(folder), kLastLines / 2);
  }
  for (std::string& line : last_lines(console_path(folder), kLastLines)) {
    lines.push_back(std::move(line));
  }
  return lines;
}

bool peer_says_failed(const Result<RunResult>& said) {
  return !said && said.error().code == ErrorCode::kAborted;
}

Result<RunResult> what_it_gave(const PlannedPoint& planned,
                               const Study& study,
                               const TreeEnd& end,
                               const std::string& folder) {
  if (end.how != TreeEnd::How::kEnded) {
    return fail(ErrorCode::kTimeout,
                concat(to_string(end), " (timeout_seconds = ", study.timeout_seconds, ')'));
  }
  if (is_peer(planned)) {
    Result<RunResult> said = read_peer_output(output_path(folder));
    // What a peer says of its failure tells more than its exit code.
    return end.well() || peer_says_failed(said) ? said : fail(ErrorCode::kPeerLost, to_string(end));
  }
  return !end.well()
             ? fail(ErrorCode::kPeerLost, to_string(end))
             : read_own_records(
                   metrics::metrics_path(own_run_folder(folder)), study.warmup_steps, study.steps);
}

}  // namespace

std::string own_run_folder(const std::string& folder) {
  return concat(folder, "/run");
}

TreeCommand command_of(const PlannedPoint& planned,
                       const Study& study,
                       const RunOptions& options,
                       const std::string& folder) {
  TreeCommand command;
  command.err_path = console_path(folder);
  command.timeout = std::chrono::seconds(study.timeout_seconds);
  command.grace = options.grace;
  if (is_peer(planned)) {
    command.argv = {"/bin/sh", "-c", planned.command};
    command.out_path = output_path(folder);
    return command;
  }
  command.argv = {options.brigade, "train", concat("--config=", study.base)};
  for (const std::vector<std::string>& settings : {planned.settings, options.more_settings}) {
    command.argv.insert(command.argv.end(), settings.begin(), settings.end());
  }
  command.argv.push_back(concat("job.dump_folder=", own_run_folder(folder)));
  command.out_path = command.err_path;
  return command;
}

Result<std::optional<RunResult>> run_point(const PlannedPoint& planned,
                                           const Study& study,
                                           const RunOptions& options,
                                           const std::string& folder) {
  const std::string began = checkpoint::utc_time();
  const Result<TreeEnd> end = run_tree(command_of(planned, study, options, folder), options.stop);
  if (!end) {
    return fail(end.error());
  }
  if (end->how == TreeEnd::How::kStopped) {
    return std::nullopt;
  }
  Result<RunResult> gave = what_it_gave(planned, study, *end, folder);
  RunResult result = gave ? std::move(*gave) : RunResult();
  if (!gave) {
    result.failure = gave.error().text;
    result.last_lines = lines_before_the_end(planned, folder);
  }
  result.seconds = end->seconds;
  result.began = began;
  return result;
}

}  // namespace brigade::study
