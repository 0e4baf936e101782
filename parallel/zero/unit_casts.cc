// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/unit_casts.h"

#include <string_view>
#include <utility>

#include "parallel/base/text.h"
#include "parallel/tensor/buffers.h"

namespace brigade::zero {
namespace {

using collective::Communicator;
using collective::ConstSpans;
using collective::Spans;
using collective::Work;
using sharding::CastKind;

/// Which of a parameter's tensors moves.
using Part = at::Tensor Parameter::*;

struct RowSpans {
  Spans spans;
  int64_t bytes = 0;
};

RowSpans rows_of_member(const std::vector<Parameter*>& parameters, Part part, size_t member) {
  RowSpans rows;
  for (const Parameter* parameter : parameters) {
    rows.spans.push_back(tensor::bytes_of(rows_of(parameter->*part, parameter->rows[member])));
    rows.bytes += static_cast<int64_t>(rows.spans.back().size());
  }
  return rows;
}

int64_t whole_bytes(const Unit& unit, Part part) {
  int64_t bytes = 0;
  for (const Parameter* parameter : unit.parameters) {
    bytes += static_cast<int64_t>((parameter->*part).nbytes());
  }
  return bytes;
}

ConstSpans read_only(const Spans& spans) {
  return ConstSpans(spans.begin(), spans.end());
}

/// The unit casts of one call: groups, ledger and the works in flight.
class UnitCasts {
 public:
  UnitCasts(tensor::Program& program, const DataAxes& data) : program_(program), data_(data) {}

  bool shards() const { return members(data_.shard) > 1; }

  Work post_reduce_scatter(const Unit& unit) {
    Communicator& group = program_.group(data_.shard);
    std::vector<ConstSpans> terms;
    for (size_t member = 0; member < static_cast<size_t>(group.size()); ++member) {
      terms.push_back(
          read_only(rows_of_member(unit.parameters, &Parameter::gradient, member).spans));
    }
    write(CastKind::kReduceScatter,
          data_.shard,
          whole_bytes(unit, &Parameter::gradient),
          unit,
          "gradients");
    return group.reduce_scatter(
        std::move(terms),
        rows_of_member(unit.parameters, &Parameter::gradient, own(group)).spans,
        DType::kFloat32,
        collective::ReduceOp::kSum);
  }

  /// Of the own rows, between the ranks that hold the same ones.
  Work post_all_reduce(const Unit& unit, const Sum& sum) {
    const size_t member = shards() ? own(program_.group(data_.shard)) : 0;
    RowSpans rows = rows_of_member(sum.parameters, &Parameter::gradient, member);
    write(CastKind::kAllReduce, sum.axes, rows.bytes, unit, "gradients");
    return program_.group(sum.axes).all_reduce(
        std::move(rows.spans), DType::kFloat32, collective::ReduceOp::kSum);
  }

  Work post_all_gather(const Unit& unit, Part part, CastKind kind, std::string_view what) {
    Communicator& group = program_.group(data_.shard);
    std::vector<Spans> parts;
    for (size_t member = 0; member < static_cast<size_t>(group.size()); ++member) {
      parts.push_back(rows_of_member(unit.parameters, part, member).spans);
    }
    write(kind, data_.shard, whole_bytes(unit, part), unit, what);
    ConstSpans mine = read_only(parts[own(group)]);
    return group.all_gather(std::move(mine), std::move(parts));
  }

 private:
  int64_t members(const mesh::AxisNames& axes) const { return program_.mesh().axes_size(axes); }

  static size_t own(const Communicator& group) { return static_cast<size_t>(group.rank()); }

  void write(CastKind kind,
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

  tensor::Program& program_;
  const DataAxes& data_;
};

Result<void> wait_all(std::vector<Work>& works) {
  for (Work& work : works) {
    if (Result<void> done = work.wait(); !done) {
      return done;
    }
  }
  return {};
}

}  // namespace

Result<void> reduce_gradients(tensor::Program& program,
                              const DataAxes& data,
                              const std::vector<Unit>& units,
                              bool whole) {
  UnitCasts casts(program, data);
  std::vector<Work> scattered(units.size());
  for (size_t i = 0; casts.shards() && i < units.size(); ++i) {
    scattered[i] = casts.post_reduce_scatter(units[i]);
  }
  std::vector<std::vector<Work>> summed(units.size());
  for (size_t i = 0; i < units.size(); ++i) {
    if (Result<void> done = scattered[i].wait(); !done) {
      return done;
    }
    for (const Sum& sum : units[i].sums) {
      summed[i].push_back(casts.post_all_reduce(units[i], sum));
    }
  }
  std::vector<Work> gathered(units.size());
  for (size_t i = 0; i < units.size(); ++i) {
    if (Result<void> done = wait_all(summed[i]); !done) {
      return done;
    }
    if (whole && casts.shards()) {
      gathered[i] =
          casts.post_all_gather(units[i], &Parameter::gradient, CastKind::kGather, "gradients");
    }
  }
  return wait_all(gathered);
}

Result<void> gather_weights(tensor::Program& program,
                            const DataAxes& data,
                            const std::vector<Unit>& units) {
  UnitCasts casts(program, data);
  if (!casts.shards()) {
    return {};
  }
  std::vector<Work> works;
  for (const Unit& unit : units) {
    works.push_back(
        casts.post_all_gather(unit, &Parameter::data, CastKind::kGatherReduced, "weights"));
  }
  return wait_all(works);
}

}  // namespace brigade::zero
