// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/move.h"

#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "parallel/base/check.h"
#include "parallel/sharding/named_sharding.h"
#include "parallel/tensor/buffers.h"
#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {
namespace {

using collective::ConstSpans;
using collective::ReduceOp;
using collective::Spans;
using sharding::CastKind;
using sharding::CastStep;
using sharding::Interval;
using sharding::NamedSharding;
using sharding::TensorType;

/// What each member of the cast's group holds of one dim, relative to where this rank's own piece
/// of the unsplit side begins.
std::vector<Interval> member_intervals(Program& program,
                                       const TensorType& whole,
                                       const TensorType& split,
                                       const CastStep& step,
                                       int64_t dim) {
  const NamedSharding split_sharding{program.mesh(), split.spec};
  const int64_t origin = NamedSharding{program.mesh(), whole.spec}
                             .box(whole.global, program.rank())
                             .dims[static_cast<size_t>(dim)]
                             .begin;
  std::vector<Interval> intervals;
  for (const int64_t member : program.mesh().group(program.rank(), step.axes)) {
    const Interval global = split_sharding.box(split.global, member).dims[static_cast<size_t>(dim)];
    intervals.push_back({global.begin - origin, global.end - origin});
  }
  return intervals;
}

int64_t my_index(Program& program, const CastStep& step) {
  return program.mesh().flattened_index(program.rank(), step.axes);
}

/// Rows [begin, end) of a contiguous tensor's leading dim.
collective::Span rows(const at::Tensor& tensor, Interval interval) {
  const size_t count = static_cast<size_t>(tensor.size(0));
  const size_t row_bytes = count == 0 ? 0 : tensor.nbytes() / count;
  return bytes_of(tensor).subspan(static_cast<size_t>(interval.begin) * row_bytes,
                                  static_cast<size_t>(interval.size()) * row_bytes);
}

/// The tensor with `dim` leading, contiguous: slices along `dim` become runs of rows.
at::Tensor leading(const at::Tensor& tensor, int64_t dim) {
  return tensor.movedim(dim, 0).contiguous();
}

at::Tensor gather(Program& program,
                  const TensorType& from,
                  const CastStep& step,
                  const at::Tensor& local) {
  const std::vector<Interval> parts = member_intervals(program, step.to, from, step, step.dim);
  const at::Tensor mine = leading(local, step.dim);
  std::vector<int64_t> shape = mine.sizes().vec();
  shape[0] = parts.back().end;
  at::Tensor whole = at::empty(shape, mine.options());
  std::vector<Spans> spans;
  for (const Interval& part : parts) {
    spans.push_back({rows(whole, part)});
  }
  collective::Work work = program.group(step.axes).all_gather({bytes_of(mine)}, std::move(spans));
  value_or_throw(work.wait());
  return whole.movedim(0, step.dim).contiguous();
}

at::Tensor reduce_scatter(Program& program,
                          const TensorType& from,
                          const CastStep& step,
                          const at::Tensor& local) {
  const std::vector<Interval> parts = member_intervals(program, from, step.to, step, step.dim);
  const at::Tensor terms = leading(local, step.dim);
  std::vector<int64_t> shape = terms.sizes().vec();
  shape[0] = parts[static_cast<size_t>(my_index(program, step))].size();
  at::Tensor result = at::empty(shape, terms.options());
  std::vector<ConstSpans> spans;
  for (const Interval& part : parts) {
    spans.push_back({rows(terms, part)});
  }
  collective::Work work = program.group(step.axes).reduce_scatter(
      std::move(spans), {bytes_of(result)}, dtype_of(terms), ReduceOp::kSum);
  value_or_throw(work.wait());
  return result.movedim(0, step.dim).contiguous();
}

at::Tensor all_reduce(Program& program, const CastStep& step, const at::Tensor& local) {
  at::Tensor sum = local.clone(at::MemoryFormat::Contiguous);
  collective::Work work =
      program.group(step.axes).all_reduce({bytes_of(sum)}, dtype_of(sum), ReduceOp::kSum);
  value_or_throw(work.wait());
  return sum;
}

at::Tensor all_to_all(Program& program,
                      const TensorType& from,
                      const CastStep& step,
                      const at::Tensor& local) {
  const TensorType gathered{
      from.dtype, from.global, from.spec.with_dim(static_cast<size_t>(step.dim), {})};
  const std::vector<Interval> sent = member_intervals(program, from, step.to, step, step.to_dim);
  const std::vector<Interval> received = member_intervals(program, step.to, from, step, step.dim);
  at::Tensor out = at::empty(local_shape(program, step.to), local.options());
  std::vector<at::Tensor> pieces;
  std::vector<at::Tensor> arrived;
  std::vector<ConstSpans> to;
  std::vector<Spans> into;
  for (size_t member = 0; member < sent.size(); ++member) {
    pieces.push_back(
        local.narrow(step.to_dim, sent[member].begin, sent[member].size()).contiguous());
    arrived.push_back(
        at::empty_like(out.narrow(step.dim, received[member].begin, received[member].size()),
                       at::MemoryFormat::Contiguous));
    to.push_back({bytes_of(pieces.back())});
    into.push_back({bytes_of(arrived.back())});
  }
  collective::Work work = program.group(step.axes).all_to_all(std::move(to), std::move(into));
  value_or_throw(work.wait());
  for (size_t member = 0; member < received.size(); ++member) {
    out.narrow(step.dim, received[member].begin, received[member].size()).copy_(arrived[member]);
  }
  return out;
}

at::Tensor slice(Program& program,
                 const TensorType& from,
                 const CastStep& step,
                 const at::Tensor& local) {
  const Interval mine = member_intervals(
      program, from, step.to, step, step.dim)[static_cast<size_t>(my_index(program, step))];
  return local.narrow(step.dim, mine.begin, mine.size());
}

at::Tensor place(Program& program,
                 const TensorType& from,
                 const CastStep& step,
                 const at::Tensor& local) {
  const Interval mine = member_intervals(
      program, step.to, from, step, step.dim)[static_cast<size_t>(my_index(program, step))];
  at::Tensor whole = at::zeros(local_shape(program, step.to), local.options());
  whole.narrow(step.dim, mine.begin, mine.size()).copy_(local);
  return whole;
}

/// Bytes of the group's whole piece: the larger side of the cast, equal on all members.
int64_t whole_bytes(Program& program, const TensorType& from, const CastStep& step) {
  const bool grows = step.kind == CastKind::kGather || step.kind == CastKind::kGatherReduced;
  const TensorType& whole = grows ? step.to : from;
  const int64_t elements = sharding::element_count(local_shape(program, whole));
  const int64_t members =
      step.kind == CastKind::kAllToAll ? program.mesh().axes_size(step.axes) : 1;
  return elements * members * size_of(from.dtype);
}

void write_ledger(Program& program,
                  const TensorType& from,
                  const CastStep& step,
                  const Cause& cause) {
  const int64_t bytes =
      cast_bytes(step.kind, program.mesh().axes_size(step.axes), whole_bytes(program, from, step));
  program.ledger().write({step.kind,
                          step.axes,
                          bytes,
                          cause.pass,
                          std::string(cause.reason),
                          std::string(cause.source)});
}

}  // namespace

at::Tensor move(Program& program,
                const TensorType& from,
                const CastStep& step,
                const at::Tensor& local,
                const Cause& cause) {
  if (program.mesh().axes_size(step.axes) == 1) {
    return local;
  }
  switch (step.kind) {
    case CastKind::kMarkReduced: return local;
    case CastKind::kSlice:
    case CastKind::kSliceReduced: return slice(program, from, step, local);
    case CastKind::kPlace: return place(program, from, step, local);
    case CastKind::kKeepFirst: return my_index(program, step) == 0 ? local : at::zeros_like(local);
    default: break;
  }
  write_ledger(program, from, step, cause);
  switch (step.kind) {
    case CastKind::kGather:
    case CastKind::kGatherReduced: return gather(program, from, step, local);
    case CastKind::kReduceScatter: return reduce_scatter(program, from, step, local);
    case CastKind::kAllReduce: return all_reduce(program, step, local);
    case CastKind::kAllToAll: return all_to_all(program, from, step, local);
    default: BRIGADE_CHECK(false, to_string(step.kind));
  }
}

}  // namespace brigade::tensor
