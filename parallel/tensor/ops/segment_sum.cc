// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/segment_sum.h"

#include <ATen/ATen.h>

#include "parallel/sharding/segment_plan.h"
#include "parallel/tensor/fused.h"
#include "parallel/tensor/held_entries.h"
#include "parallel/tensor/plan_key.h"
#include "parallel/tensor/program.h"
#include "parallel/tensor/run_op.h"

namespace brigade::tensor {

ShardedTensor segment_sum(const ShardedTensor& x,
                          const ShardedTensor& ids,
                          int64_t segments,
                          const std::optional<sharding::PartitionSpec>& out) {
  Program& program = x.program();
  const Planned& planned = program.plan(PlanKey("segment_sum", ids, x, segments, out), [&] {
    return sharding::plan_segment_sum(program.mesh(), x.type(), ids.type(), segments, out);
  });
  return run(
      planned,
      [&](const at::Tensor& local_ids, const at::Tensor& values) {
        check_indices("segment_sum", local_ids, segments);
        const at::Tensor terms = widened(values);
        return at::zeros(planned.local_result->local_shape, terms.options())
            .index_add(0, local_ids, terms)
            .to(values.scalar_type());
      },
      ids,
      x);
}

}  // namespace brigade::tensor
