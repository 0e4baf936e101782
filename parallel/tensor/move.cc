// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/move.h"

#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "parallel/base/check.h"
#include "parallel/sharding/named_sharding.h"
#include "parallel/sharding/permute.h"
#include "parallel/tensor/buffers.h"
#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {
namespace {

using collective::ConstSpans;
using collective::ReduceOp;
using collective::Spans;
using sharding::Box;
using sharding::CastKind;
using sharding::CastStep;
using sharding::Interval;
using sharding::NamedSharding;
using sharding::Reduction;
using sharding::TensorType;

ReduceOp op_of(Reduction reduction) {
  switch (reduction) {
    case Reduction::kSum: return ReduceOp::kSum;
    case Reduction::kMax: return ReduceOp::kMax;
    case Reduction::kMin: return ReduceOp::kMin;
  }
  BRIGADE_CHECK(false, static_cast<int>(reduction));
}

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
      std::move(spans), {bytes_of(result)}, dtype_of(terms), op_of(step.reduction));
  value_or_throw(work.wait());
  return result.movedim(0, step.dim).contiguous();
}

at::Tensor all_reduce(Program& program, const CastStep& step, const at::Tensor& local) {
  at::Tensor sum = local.clone(at::MemoryFormat::Contiguous);
  collective::Work work =
      program.group(step.axes).all_reduce({bytes_of(sum)}, dtype_of(sum), op_of(step.reduction));
  value_or_throw(work.wait());
  return sum;
}

/// The part of a tensor that holds `held` which is `wanted`, a box within it; a view.
at::Tensor part(const at::Tensor& tensor, const Box& held, const Box& wanted) {
  at::Tensor view = tensor;
  for (size_t dim = 0; dim < held.dims.size(); ++dim) {
    const Interval& range = wanted.dims[dim];
    // A box of no elements may lie outside.
    const int64_t begin = range.size() == 0 ? 0 : range.begin - held.dims[dim].begin;
    view = view.narrow(static_cast<int64_t>(dim), begin, range.size());
  }
  return view;
}

/// Every member gives each other what that one needs of its box: all-to-alls and permutes.
at::Tensor exchange(Program& program,
                    const TensorType& from,
                    const CastStep& step,
                    const at::Tensor& local) {
  const NamedSharding before{program.mesh(), from.spec};
  const NamedSharding after{program.mesh(), step.to.spec};
  const Box held = before.box(from.global, program.rank());
  const Box wanted = after.box(from.global, program.rank());
  at::Tensor out = at::empty(wanted.shape(), local.options());
  std::vector<at::Tensor> pieces;
  std::vector<at::Tensor> targets;
  std::vector<at::Tensor> arrived;
  std::vector<ConstSpans> to;
  std::vector<Spans> into;
  for (const int64_t member : program.mesh().group(program.rank(), step.axes)) {
    pieces.push_back(
        part(local, held, intersect(held, after.box(from.global, member))).contiguous());
    targets.push_back(part(out, wanted, intersect(before.box(from.global, member), wanted)));
    arrived.push_back(targets.back().is_contiguous()
                          ? targets.back()
                          : at::empty_like(targets.back(), at::MemoryFormat::Contiguous));
    to.push_back({bytes_of(pieces.back())});
    into.push_back({bytes_of(arrived.back())});
  }
  collective::Work work = program.group(step.axes).all_to_all(std::move(to), std::move(into));
  value_or_throw(work.wait());
  for (size_t member = 0; member < targets.size(); ++member) {
    if (!arrived[member].is_same(targets[member])) {
      targets[member].copy_(arrived[member]);
    }
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

/// Bytes of the group's whole piece: the larger side of the cast, equal on all members; of a
/// permute, those that change hands.
int64_t whole_bytes(Program& program, const TensorType& from, const CastStep& step) {
  if (step.kind == CastKind::kPermute) {
    return sharding::permuted_elements(program.mesh(), from, step, program.rank()) *
           size_of(from.dtype);
  }
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
                          std::string(cause.source),
                          step.reduction});
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
    case CastKind::kAllToAll:
    case CastKind::kPermute: return exchange(program, from, step, local);
    default: BRIGADE_CHECK(false, to_string(step.kind));
  }
}

}  // namespace brigade::tensor
