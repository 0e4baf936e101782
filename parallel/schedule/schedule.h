// SPDX-License-Identifier: Apache-2.0
/// Schedule: for every pipeline rank the list of its actions in order, and the generators and
/// passes that make one.
///
///   Schedule s = value_or_throw(
///       generate({.kind = Kind::kOneForwardOneBackward, .ranks = 4, .microbatches = 8}));
///   value_or_throw(validate(s));
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/base/result.h"
#include "parallel/schedule/action.h"

namespace brigade::schedule {

enum class Kind : uint8_t {
  kGPipe,                 ///< all forwards, then all backwards (Huang et al., 2019)
  kOneForwardOneBackward  ///< 1F1B: at most ranks - r microbatches in flight on rank r (Narayanan
                          ///< et al., SC 2021)
};

/// "GPipe", "1F1B": the names that the config takes.
std::string_view to_string(Kind kind);
/// Errors: kUsage naming the nearest and all accepted names. Case counts, as in torchtitan.
Result<Kind> parse_kind(std::string_view name);

struct Request {
  Kind kind = Kind::kOneForwardOneBackward;
  int64_t ranks = 1;         ///< pipeline ranks; one stage each
  int64_t microbatches = 1;  ///< of one data rank in one step
};

struct Header {
  Kind kind = Kind::kOneForwardOneBackward;
  int64_t ranks = 1;
  int64_t microbatches = 1;
  int64_t stages = 1;
  std::vector<int64_t> rank_of_stage;

  bool operator==(const Header&) const = default;
};

struct Schedule {
  Header header;
  std::vector<std::vector<Action>> per_rank;

  bool operator==(const Schedule&) const = default;
};

/// Compute actions, lowered sends and receives, and the optimizer's tail. Any microbatches >= 1,
/// also fewer than ranks.
///
/// A receive stands directly before its consumer and a send directly after its producer; both ends
/// of a channel (sending rank, receiving rank, direction) list its messages in one order, so an
/// executor may post the next receives of a rank early, in list order, to any depth. GPipe's
/// backwards run from the last microbatch to the first, so that activations are freed as a stack.
///
/// Errors: kUsage for ranks or microbatches below 1.
Result<Schedule> generate(const Request& request);

/// Checks what must hold of every schedule, ours or read from a file: each (stage, microbatch) has
/// one forward before one backward on the rank of its stage; sends and receives pair one to one in
/// equal order per channel; the union of program order and dependencies is acyclic (posting never
/// blocks: no deadlock); the tail comes after the last backward, once, in order.
///
/// Errors: kUsage with rank, position and both neighbours of the first offending action, or the
///         wait cycle.
Result<void> validate(const Schedule& schedule);

/// One line per rank, each ended by a newline: the actions as text, joined by ","; PyTorch's CSV
/// form. compute_only leaves out all but F and B.
std::string to_csv(const Schedule& schedule, bool compute_only);

/// The schedule whose compute actions are `text`, one row per rank of `header`: sends, receives and
/// the tail are placed by our own lowering, so parse_csv(to_csv(s, true), s.header) == s. Empty
/// cells (PyTorch's idle steps) and spaces are passed over. The result is validated.
///
/// Errors: kData with row, column and the cell for what is no forward or backward of a stage and
/// microbatch of `header`; kUsage as validate() for a schedule that cannot run.
Result<Schedule> parse_csv(std::string_view text, const Header& header);

}  // namespace brigade::schedule
