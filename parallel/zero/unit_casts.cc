// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/unit_casts.h"

#include <utility>

#include "parallel/base/text.h"
#include "parallel/tensor/buffers.h"

namespace brigade::zero {
namespace {

using collective::Communicator;
using collective::ConstSpans;
using collective::ReduceOp;
using collective::Spans;
using collective::Work;
using sharding::CastKind;

ConstSpans read_only(const Spans& spans) {
  return ConstSpans(spans.begin(), spans.end());
}

int64_t length_of(const Spans& spans) {
  int64_t bytes = 0;
  for (const collective::Span& span : spans) {
    bytes += static_cast<int64_t>(span.size());
  }
  return bytes;
}

/// One tensor of each parameter.
template <class Part>
Spans whole(const std::vector<Parameter*>& parameters, const Part& part) {
  Spans spans;
  for (const Parameter* parameter : parameters) {
    spans.push_back(tensor::bytes_of(part(*parameter)));
  }
  return spans;
}

/// Of a tensor of each parameter's used box, the rows of each member.
template <class Part>
std::vector<Spans> rows_by_member(const std::vector<Parameter*>& parameters,
                                  int members,
                                  const Part& part) {
  std::vector<Spans> spans(static_cast<size_t>(members));
  for (size_t member = 0; member < spans.size(); ++member) {
    spans[member] = whole(parameters, [&](const Parameter& parameter) {
      return rows_of(part(parameter), parameter.rows[member]);
    });
  }
  return spans;
}

at::Tensor leaf_memory(const Parameter& parameter) {
  return parameter.leaf.local().detach();
}

/// A tied use has no rows of its own.
at::Tensor stored_rows(const Parameter& parameter) {
  return parameter.owner == nullptr ? parameter.stored : parameter.owner->stored;
}

at::Tensor terms(const Parameter& parameter) {
  return parameter.terms;
}

at::Tensor result(const Parameter& parameter) {
  return parameter.result;
}

}  // namespace

Work UnitCasts::gather_sharded(const Unit& unit) {
  Communicator& group = program_.group(options_.data.shard);
  const Spans leaves = whole(unit.sharded, leaf_memory);
  write(CastKind::kGatherReduced, options_.data.shard, length_of(leaves), unit, "weights");
  return group.all_gather(read_only(whole(unit.sharded, stored_rows)),
                          rows_by_member(unit.sharded, group.size(), leaf_memory));
}

Work UnitCasts::gather_refreshed(const Unit& unit) {
  Communicator& group = program_.group(options_.data.shard);
  std::vector<Spans> parts = rows_by_member(
      unit.refreshed, group.size(), [](const Parameter& parameter) { return parameter.stored; });
  int64_t bytes = 0;
  for (const Spans& part : parts) {
    bytes += length_of(part);
  }
  write(CastKind::kGatherReduced, options_.data.shard, bytes, unit, "weights");
  ConstSpans mine = read_only(parts[static_cast<size_t>(group.rank())]);
  return group.all_gather(std::move(mine), std::move(parts));
}

Work UnitCasts::scatter_gradients(const Unit& unit) {
  Communicator& group = program_.group(options_.data.shard);
  std::vector<ConstSpans> rows;
  for (const Spans& part : rows_by_member(unit.parameters, group.size(), terms)) {
    rows.push_back(read_only(part));
  }
  const int64_t bytes = length_of(whole(unit.parameters, terms));
  write(CastKind::kReduceScatter, options_.data.shard, bytes, unit, "gradients");
  return group.reduce_scatter(
      std::move(rows), whole(unit.parameters, result), options_.wire, ReduceOp::kSum);
}

Work UnitCasts::sum_gradients(const Unit& unit, const Sum& sum) {
  Spans rows = whole(sum.parameters, result);
  write(CastKind::kAllReduce, sum.axes, length_of(rows), unit, "gradients");
  return program_.group(sum.axes).all_reduce(std::move(rows), options_.wire, ReduceOp::kSum);
}

Work UnitCasts::gather_gradients(const Unit& unit) {
  Communicator& group = program_.group(options_.data.shard);
  const int64_t bytes = length_of(whole(unit.parameters, terms));
  write(CastKind::kGather, options_.data.shard, bytes, unit, "gradients");
  return group.all_gather(read_only(whole(unit.parameters, result)),
                          rows_by_member(unit.parameters, group.size(), terms));
}

void UnitCasts::write(CastKind kind,
                      const mesh::AxisNames& axes,
                      int64_t bytes,
                      const Unit& unit,
                      std::string_view what) {
  program_.ledger().write({kind,
                           axes,
                           tensor::cast_bytes(kind, members(axes), bytes),
                           tensor::Pass::kStep,
                           concat("unit ", unit.name, ": ", what),
                           "unit"});
}

}  // namespace brigade::zero
