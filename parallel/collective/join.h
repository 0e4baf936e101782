// SPDX-License-Identifier: Apache-2.0
/// What an Operation does with what arrived: joins terms, and says who called something else.
#pragma once

#include <cstdint>
#include <vector>

#include "parallel/base/result.h"
#include "parallel/collective/plan.h"
#include "parallel/transport/endpoint.h"

namespace brigade::collective {

/// Joins contiguous `terms` (element `rank` is ignored) with `own` along the tree over the member
/// index, into `result`. `own` and `result` are equally long lists of pieces, and may be the same
/// memory.
void join_terms(std::vector<const std::byte*> terms,
                int rank,
                const ConstSpans& own,
                const Spans& result,
                DType dtype,
                ReduceOp op);

/// `first_parts`: a receive per member that was to compare the call. The members whose call is the
/// most common one are right (on a tie those with the lowest member); the lowest of the others is
/// the origin.
Error mismatch_error(const Group& group,
                     uint64_t sequence,
                     const transport::Fingerprint& own,
                     const std::vector<transport::Transfer*>& first_parts);

}  // namespace brigade::collective
