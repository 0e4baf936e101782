// SPDX-License-Identifier: Apache-2.0
// Large: reduce-scatter over equal slices, each joined piece going to all as soon as it is made;
// 2S(p-1)/p bytes sent per member, and all members hold the owner's bits. Small: everyone sends all
// of its terms to everyone and joins them alone - the same tree, so the same bits - in one step
// instead of two.
#include <utility>

#include "parallel/base/check.h"
#include "parallel/collective/call.h"
#include "parallel/collective/plan.h"
#include "parallel/transport/spans.h"

namespace brigade::collective {
namespace {

constexpr int64_t kSmallBytes = 8192;
constexpr int64_t kSmallBytesOfTwo = transport::kEagerBytes;  // no byte more than the other way
constexpr int kSmallMembers = 16;

bool is_small(int members, int64_t bytes) {
  return members == 2 ? bytes <= kSmallBytesOfTwo
                      : members <= kSmallMembers && bytes <= kSmallBytes;
}

/// Member d's slice of `buffer`, cut between elements.
Spans slice_of(const Spans& buffer, int64_t elements, int64_t element_bytes, int d, int members) {
  const int64_t begin = elements * d / members;
  const int64_t end = elements * (d + 1) / members;
  return transport::slice(buffer, begin * element_bytes, (end - begin) * element_bytes);
}

}  // namespace

Plan plan_all_reduce(const Group& group, const Spans& buffer, DType dtype, ReduceOp op) {
  const int64_t bytes = transport::length_of(buffer);
  BRIGADE_CHECK(bytes % size_of(dtype) == 0, bytes, dtype);
  Plan plan = bare_plan(group, reduction_print(Call::kAllReduce, dtype, op, bytes, 0));
  plan.incoming.clear();
  if (is_small(group.size(), bytes)) {
    for (Outgoing& outgoing : plan.outgoing) {
      outgoing.bytes = transport::as_const(buffer);
    }
    plan.reduction =
        Reduction{plan.print, transport::as_const(buffer), buffer, dtype, op, true, false};
    return plan;
  }
  const int64_t element_bytes = size_of(dtype);
  const auto slice_for = [&](int member) {
    return slice_of(buffer, bytes / element_bytes, element_bytes, member, group.size());
  };
  for (Outgoing& outgoing : plan.outgoing) {
    Spans slice = slice_for(outgoing.member);
    outgoing.bytes = transport::as_const(slice);
    // Member d's sums come only after d has all of our terms, piece by piece: landing them on top
    // of the terms is safe.
    plan.gathered.push_back({outgoing.member, plan.print, std::move(slice)});
  }
  const Spans own = slice_for(group.rank);
  plan.reduction = Reduction{plan.print, transport::as_const(own), own, dtype, op, false, true};
  return plan;
}

}  // namespace brigade::collective
