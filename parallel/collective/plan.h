// SPDX-License-Identifier: Apache-2.0
/// Plan: one member's part in one operation, as data - which bytes go to whom, where arriving bytes
/// land, and which terms are reduced on the way. The algorithms make plans; Operation carries them
/// out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parallel/base/dtype.h"
#include "parallel/collective/communicator.h"
#include "parallel/transport/message.h"

namespace brigade::collective {

/// What a group's operations need to know about it.
struct Group {
  uint64_t id = 0;
  std::string name;
  std::vector<int64_t> members;  ///< world ranks
  int rank = 0;                  ///< this one's index

  int size() const { return static_cast<int>(members.size()); }
};

/// Bytes for one member.
struct Outgoing {
  int member = 0;
  transport::Fingerprint print;
  ConstSpans bytes;
};

/// Bytes of one member, straight into place.
struct Incoming {
  int member = 0;
  transport::Fingerprint print;
  Spans into;
};

/// Terms of equal length from every other member, joined with `own` along the tree into `result`.
struct Reduction {
  transport::Fingerprint print;
  ConstSpans own;
  Spans result;
  DType dtype = DType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  bool after_sends = false;  ///< `result` overlaps what is being sent
  bool forward = false;      ///< every joined piece goes to all members, into their `gathered`
};

struct Plan {
  transport::Fingerprint print;  ///< of the whole call, for messages
  std::vector<Outgoing> outgoing;
  std::vector<Incoming> incoming;
  std::optional<Reduction> reduction;
  std::vector<Incoming> gathered;  ///< forwarded results of the others
  bool may_detach = false;         ///< a waiting sender may go on without its receiver
};

/// The plan in which this member sends every other one nothing but the call itself, and expects the
/// same; where bytes move, an algorithm puts them in.
Plan bare_plan(const Group& group, const transport::Fingerprint& print);

Plan plan_barrier(const Group& group);
Plan plan_all_reduce(const Group& group, const Spans& buffer, DType dtype, ReduceOp op);
Plan plan_reduce_scatter(
    const Group& group, std::vector<ConstSpans> terms, Spans result, DType dtype, ReduceOp op);
Plan plan_all_gather(const Group& group, const ConstSpans& mine, std::vector<Spans> parts);
Plan plan_broadcast(const Group& group, const Spans& buffer, int root);
Plan plan_all_to_all(const Group& group, std::vector<ConstSpans> to, std::vector<Spans> from);
Plan plan_send(const Group& group, ConstSpans buffer, int peer);
Plan plan_receive(const Group& group, Spans buffer, int peer);

}  // namespace brigade::collective
