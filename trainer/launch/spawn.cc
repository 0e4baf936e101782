// SPDX-License-Identifier: Apache-2.0
#include "trainer/launch/spawn.h"

#include <algorithm>
#include <deque>
#include <fstream>
#include <iostream>
#include <optional>
#include <poll.h>

#include "parallel/base/text.h"
#include "trainer/launch/exit_code.h"
#include "trainer/launch/rank_process.h"
#include "trainer/launch/signal_inbox.h"
#include "trainer/launch/stop_signals.h"

namespace brigade::launch {
namespace {

using Clock = std::chrono::steady_clock;

/// The end of a log, each line with its rank before it.
std::string log_tail(const std::string& path, int rank) {
  constexpr size_t kLines = 10;
  std::ifstream in(path);
  std::deque<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    lines.push_back(std::move(line));
    if (lines.size() > kLines) {
      lines.pop_front();
    }
  }
  std::string out;
  for (const std::string& line : lines) {
    out += concat("[rank ", rank, "] ", line, '\n');
  }
  return out;
}

class Supervisor {
 public:
  Supervisor(int ranks, const std::vector<std::string>& command_line, const SpawnOptions& options)
      : world_size_(ranks),
        command_line_(command_line),
        options_(options),
        console_(options.console != nullptr ? *options.console : std::cerr) {}

  int run() {
    const Result<void> started = start();
    if (!started) {
      console_ << "brigade: " << started.error().text << std::endl;
      ranks_.clear();  // kills and reaps
      return kExitFailed;
    }
    while (anyone_runs()) {
      wait();
      take_signals();
      take_news();
      keep_deadline();
    }
    return conclude();
  }

 private:
  Result<void> start() {
    int port = options_.port;
    if (port == 0) {
      const Result<int> found = free_loopback_port();
      if (!found) {
        return fail(found.error());
      }
      port = *found;
    }
    ranks_.reserve(static_cast<size_t>(world_size_));
    for (int rank = 0; rank < world_size_; ++rank) {
      Result<RankProcess> process = RankProcess::start({.executable = options_.executable,
                                                        .arguments = command_line_,
                                                        .rank = rank,
                                                        .world_size = world_size_,
                                                        .master_port = port,
                                                        .log_path = log_path(rank),
                                                        .append_log = options_.append_logs});
      if (!process) {
        return fail(process.error());
      }
      ranks_.push_back(std::move(*process));
    }
    return {};
  }

  /// "" for rank 0, which has the console.
  std::string log_path(int rank) const {
    if (rank == 0) {
      return "";
    }
    return options_.log_folder.empty() ? "/dev/null"
                                       : concat(options_.log_folder, "/rank_", rank, ".log");
  }

  bool anyone_runs() const {
    return std::any_of(
        ranks_.begin(), ranks_.end(), [](const RankProcess& rank) { return rank.running(); });
  }

  /// Until a signal, a report, or the deadline.
  void wait() {
    std::vector<pollfd> watched = {{inbox_.descriptor(), POLLIN, 0}};
    for (const RankProcess& rank : ranks_) {
      if (rank.report_descriptor() >= 0) {
        watched.push_back({rank.report_descriptor(), POLLIN, 0});
      }
    }
    int timeout_ms = 1000;  // a limit, not a period: whatever was missed is seen within a second
    if (deadline_) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline_ - Clock::now());
      timeout_ms = static_cast<int>(std::clamp<int64_t>(left.count(), 0, timeout_ms));
    }
    poll(watched.data(), watched.size(), timeout_ms);
  }

  void take_signals() {
    while (const std::optional<int> number = inbox_.take()) {
      if (*number == SIGCHLD) {
        continue;
      }
      if (stopped_by_ == 0) {
        stop(*number);
      } else if (*number != stopped_by_ || Clock::now() - stopped_at_ > kSignalEcho) {
        signal_all(SIGKILL);
      }
    }
  }

  void stop(int number) {
    stopped_by_ = number;
    stopped_at_ = Clock::now();
    signal_all(number);
    const bool may_save = number == SIGTERM || number == SIGUSR1;
    act_after(may_save ? options_.stop_grace : options_.interrupt_grace, SIGKILL);
  }

  /// Ends before reports: who was killed comes before those who noticed.
  void take_news() {
    for (RankProcess& rank : ranks_) {
      if (rank.reap() && rank.code() != kExitDone && rank.code() != kExitStoppedEarly) {
        ended_badly(rank);
      }
    }
    for (RankProcess& rank : ranks_) {
      rank.drain();
      const std::optional<Failure> failure = rank.failure();
      if (failure && (failure->origin_rank < 0 || failure->origin_rank == rank.rank())) {
        began(rank.rank());
      }
    }
  }

  void ended_badly(const RankProcess& rank) {
    if (stopped_by_ != 0) {
      stopped_badly_ = true;
      // Whoever waits for this rank to save with it waits in vain.
      const Clock::time_point soon =
          Clock::now() + options_.report_grace + options_.terminate_grace;
      deadline_ = std::min(deadline_.value_or(soon), soon);
      return;
    }
    if (first_failed_ < 0) {
      first_failed_ = rank.rank();
    }
    // A signal that we did not send: nobody can know better than the kernel.
    if (rank.ended_by() != 0 && !signalled_) {
      began(rank.rank());
    }
    end_the_others();
  }

  /// The failure began with `rank`: the first of whom this is known stays.
  void began(int rank) {
    if (stopped_by_ == 0 && origin_ < 0) {
      origin_ = rank;
      end_the_others();
    }
  }

  void end_the_others() {
    if (!signalled_ && !deadline_) {
      act_after(options_.report_grace, SIGTERM);
    }
  }

  void keep_deadline() {
    if (!deadline_ || Clock::now() < *deadline_) {
      return;
    }
    const int number = next_signal_;
    signal_all(number);
    deadline_.reset();
    if (number == SIGTERM) {
      act_after(options_.terminate_grace, SIGKILL);
    }
  }

  void act_after(std::chrono::milliseconds grace, int number) {
    deadline_ = Clock::now() + grace;
    next_signal_ = number;
  }

  void signal_all(int number) {
    signalled_ = true;
    for (const RankProcess& rank : ranks_) {
      rank.signal(number);
    }
  }

  int conclude() {
    if (stopped_badly_) {
      origin_ = own_failure();
    }
    if (first_failed_ >= 0 || origin_ >= 0) {
      return conclude_failed();
    }
    const bool early = std::any_of(ranks_.begin(), ranks_.end(), [](const RankProcess& rank) {
      return rank.code() == kExitStoppedEarly;
    });
    if (stopped_by_ != 0) {
      const char* rest = early ? ", checkpoint saved" : " when all was done";
      console_ << "brigade: stopped by " << signal_name(stopped_by_) << (stopped_badly_ ? "" : rest)
               << std::endl;
    }
    if (stopped_badly_) {
      return kExitSignalBase + stopped_by_;
    }
    return early ? kExitStoppedEarly : kExitDone;
  }

  /// The first rank that failed by itself after a signal was passed on, as when it cannot save; -1:
  /// none did.
  int own_failure() const {
    for (const RankProcess& rank : ranks_) {
      const std::optional<Failure> failure = rank.failure();
      const bool own = failure && (failure->origin_rank < 0 || failure->origin_rank == rank.rank());
      if (own && rank.ended_by() == 0) {
        return rank.rank();
      }
    }
    return -1;
  }

  int conclude_failed() {
    const RankProcess* witness = origin_ < 0 ? a_witness() : nullptr;
    const int named = witness != nullptr ? witness->failure()->origin_rank : first_failed_;
    const RankProcess& origin = ranks_[static_cast<size_t>(origin_ >= 0 ? origin_ : named)];
    if (!origin.failure()) {
      console_ << log_tail(log_path(origin.rank()), origin.rank());
    }
    console_ << "brigade: rank " << origin.rank() << " of " << world_size_ << ' ' << how(origin)
             << std::endl;
    const std::optional<Failure> failure =
        witness != nullptr ? witness->failure() : origin.failure();
    const int code = failure ? failure->exit_code : origin.code();
    return code != kExitDone ? code : kExitFailed;
  }

  /// The first rank that failed because of another, which does not say so itself.
  const RankProcess* a_witness() const {
    for (const RankProcess& rank : ranks_) {
      const std::optional<Failure> failure = rank.failure();
      if (failure && failure->origin_rank >= 0 && failure->origin_rank < world_size_) {
        return &rank;
      }
    }
    return nullptr;
  }

  /// What happened to the origin: its own words, else how it ended, with what another says of it.
  std::string how(const RankProcess& origin) const {
    if (const std::optional<Failure> failure = origin.failure()) {
      return concat("failed: ", failure->text, where(origin.rank()));
    }
    std::string text;
    if (origin.rank() != origin_ && origin.rank() != first_failed_) {
      text = "did not report and had to be ended";
    } else if (origin.ended_by() != 0) {
      text = concat("was killed by ", signal_name(origin.ended_by()));
    } else {
      text = concat("ended with exit code ", origin.code(), " and no report");
    }
    for (const RankProcess& other : ranks_) {
      const std::optional<Failure> failure = other.failure();
      if (failure && failure->origin_rank == origin.rank()) {
        text += concat("; rank ", other.rank(), " says: ", failure->text);
        break;
      }
    }
    return concat(text, where(origin.rank()));
  }

  std::string where(int rank) const {
    return rank == 0 || options_.log_folder.empty() ? "" : concat(" (log: ", log_path(rank), ')');
  }

  const int world_size_;
  const std::vector<std::string>& command_line_;
  const SpawnOptions& options_;
  std::ostream& console_;

  SignalInbox inbox_;  // before the ranks: no end of a child may be missed
  std::vector<RankProcess> ranks_;
  int first_failed_ = -1;  // the first that ended badly
  int origin_ = -1;        // the first that says, or of which the kernel says, that it began
  int stopped_by_ = 0;     // the signal that was passed on
  Clock::time_point stopped_at_;
  bool stopped_badly_ = false;  // a rank ended otherwise than done or early after it
  bool signalled_ = false;      // from now on ranks may end by signals of ours
  std::optional<Clock::time_point> deadline_;
  int next_signal_ = 0;
};

}  // namespace

int spawn(int ranks, const std::vector<std::string>& command_line, const SpawnOptions& options) {
  return Supervisor(ranks, command_line, options).run();
}

}  // namespace brigade::launch
