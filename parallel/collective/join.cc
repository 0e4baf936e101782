// SPDX-License-Identifier: Apache-2.0
#include "parallel/collective/join.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "parallel/collective/call.h"
#include "parallel/kernels/sum.h"

namespace brigade::collective {
namespace {

kernels::TermOp term_op(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum: return kernels::TermOp::kSum;
    case ReduceOp::kMax: return kernels::TermOp::kMax;
    case ReduceOp::kMin: return kernels::TermOp::kMin;
  }
  BRIGADE_CHECK(false, static_cast<int>(op));
}

/// A member and what it called.
struct Caller {
  int64_t rank = 0;
  size_t member = 0;
  transport::Fingerprint print;
  bool known = false;
};

std::vector<Caller> callers_of(const Group& group,
                               const transport::Fingerprint& own,
                               const std::vector<transport::Transfer*>& first_parts) {
  std::vector<Caller> callers;
  for (size_t member = 0; member < group.members.size(); ++member) {
    const int64_t rank = group.members[member];
    Caller caller{rank, member, own, static_cast<int>(member) == group.rank};
    for (const transport::Transfer* first : first_parts) {
      if (first->peer != rank || first->pending()) {
        continue;
      }
      caller.known = true;
      if (first->mismatched()) {
        caller.print = first->found;
      }
    }
    callers.push_back(caller);
  }
  std::erase_if(callers, [](const Caller& caller) { return !caller.known; });
  return callers;
}

/// The first caller of the most common call.
const Caller& leader_of(const std::vector<Caller>& callers) {
  const auto votes = [&](const Caller& caller) {
    return std::count_if(callers.begin(), callers.end(), [&](const Caller& other) {
      return other.print == caller.print;
    });
  };
  return *std::max_element(callers.begin(), callers.end(), [&](const Caller& a, const Caller& b) {
    return votes(a) < votes(b);
  });
}

std::string call_text(const Caller& caller) {
  return concat("rank ", caller.rank, ' ', describe(caller.print));
}

/// For calls whose lengths are a matter of pairs: the first pair that differs, if it made the same
/// call.
std::optional<Error> pair_error(const Group& group,
                                const std::string& place,
                                const std::vector<transport::Transfer*>& first_parts) {
  for (const transport::Transfer* first : first_parts) {
    const Call call = static_cast<Call>(first->fingerprint.operation);
    if (first->mismatched() && first->found.operation == first->fingerprint.operation &&
        (call == Call::kMessage || call == Call::kAllToAll)) {
      return Error{ErrorCode::kMismatch,
                   concat(place,
                          "rank ",
                          first->peer,
                          " sends ",
                          describe(first->found),
                          ", rank ",
                          group.members[static_cast<size_t>(group.rank)],
                          " expects ",
                          describe(first->fingerprint)),
                   static_cast<int>(first->peer)};
    }
  }
  return std::nullopt;
}

}  // namespace

void join_terms(std::vector<const std::byte*> terms,
                int rank,
                const ConstSpans& own,
                const Spans& result,
                DType dtype,
                ReduceOp op) {
  const size_t element = static_cast<size_t>(size_of(dtype));
  size_t own_piece = 0;
  size_t own_used = 0;
  for (const Span& target : result) {
    for (size_t filled = 0; filled < target.size();) {
      const size_t take = std::min(own[own_piece].size() - own_used, target.size() - filled);
      BRIGADE_CHECK(take % element == 0, "a piece ends within an element", take, element);
      terms[static_cast<size_t>(rank)] = own[own_piece].data() + own_used;
      kernels::sum_terms(
          terms, target.data() + filled, static_cast<int64_t>(take / element), dtype, term_op(op));
      for (const std::byte*& term : terms) {
        term += take;
      }
      filled += take;
      own_used += take;
      if (own_used == own[own_piece].size()) {
        ++own_piece;
        own_used = 0;
      }
    }
  }
}

Error mismatch_error(const Group& group,
                     uint64_t sequence,
                     const transport::Fingerprint& own,
                     const std::vector<transport::Transfer*>& first_parts) {
  const bool message = own.operation == static_cast<uint8_t>(Call::kMessage);
  const std::string place = concat(message ? "message mismatch in " : "collective mismatch in ",
                                   group.name,
                                   message ? " tag " : " seq ",
                                   sequence,
                                   ": ");
  if (std::optional<Error> error = pair_error(group, place, first_parts)) {
    return std::move(*error);
  }
  const std::vector<Caller> callers = callers_of(group, own, first_parts);
  const Caller& leader = leader_of(callers);
  std::vector<std::string> texts;
  int64_t origin = -1;
  for (const Caller& caller : callers) {
    if (caller.print == leader.print) {
      continue;
    }
    origin = origin < 0 ? caller.rank : origin;
    texts.push_back(call_text(caller));
    if (describe(caller.print) == describe(leader.print)) {
      texts.back() += " (with other lengths per member)";
    }
  }
  texts.push_back(call_text(leader));
  BRIGADE_CHECK(origin >= 0, describe(own));
  return Error{ErrorCode::kMismatch, place + join(texts), static_cast<int>(origin)};
}

}  // namespace brigade::collective
