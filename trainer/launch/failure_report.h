// SPDX-License-Identifier: Apache-2.0
/// How a rank tells the launcher why it ends: one message over a pipe that it inherited.
///
///   const Failure failure = {error.origin_rank, exit_code(error.code), error.text};
///   if (!report_failure(failure)) std::cerr << failure.text << '\n';   // nobody listens
///
/// The launcher prints the origin's text once, last; so a rank that could report prints nothing of
/// it on the console.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace brigade::launch {

struct Failure {
  int origin_rank = -1;  ///< the rank that failed first; -1: the reporting one
  int exit_code = 1;
  std::string text;

  bool operator==(const Failure&) const = default;
};

/// The variable that holds the descriptor of a rank's end of the pipe.
inline constexpr char kReportVariable[] = "BRIGADE_REPORT_FD";

/// Sends a failure to the launcher that started this rank; never blocks for long, never throws.
/// False when there is no launcher or it no longer reads.
bool report_failure(const Failure& failure);

/// The message as bytes and back; empty when bytes are not (yet) a whole message.
std::string encode(const Failure& failure);
std::optional<Failure> decode(std::string_view bytes);

}  // namespace brigade::launch
