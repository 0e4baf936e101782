// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/manual_node.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "parallel/base/text.h"
#include "parallel/tensor/buffers.h"
#include "parallel/tensor/move.h"
#include "parallel/tensor/node.h"

namespace brigade::tensor {
namespace {

using mesh::AxisNames;
using sharding::CastKind;

constexpr std::string_view kSource = "shard_map";

std::string reason_of(std::string_view op) {
  return concat(kSource, ": ", op);
}

at::Tensor run_move(Program& program,
                    const ManualMove& what,
                    const at::Tensor& x,
                    Pass pass,
                    const std::string& reason) {
  return move(program, what.from, what.step, x, {pass, reason, kSource});
}

/// A tensor of its own, for a history of its own.
at::Tensor forward_of(Program& program,
                      std::string_view op,
                      const at::Tensor& x,
                      const ManualMove& what) {
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  const at::Tensor result = run_move(program, what, x, Pass::kForward, reason_of(op));
  return result.is_same(x) ? at::alias(result) : result;
}

class MoveNode final : public OpNode {
 public:
  MoveNode(Program& program, ManualMove transpose, std::string reason)
      : program_(program), transpose_(std::move(transpose)), reason_(std::move(reason)) {}

  std::vector<at::Tensor> backward(const std::vector<at::Tensor>& gradients) override {
    return {run_move(program_, transpose_, gradients[0], Pass::kBackward, reason_)};
  }

 private:
  Program& program_;
  ManualMove transpose_;
  std::string reason_;
};

at::Tensor permute(
    Program& program, const AxisNames& axes, const at::Tensor& x, const Pairs& pairs, Pass pass) {
  const int64_t ranks = program.mesh().axes_size(axes);
  const int64_t self = program.mesh().flattened_index(program.rank(), axes);
  const at::Tensor sent = x.contiguous();
  at::Tensor received = at::zeros_like(sent, at::MemoryFormat::Contiguous);
  std::vector<collective::ConstSpans> to(static_cast<size_t>(ranks));
  std::vector<collective::Spans> from(static_cast<size_t>(ranks));
  int64_t crossing = 0;
  for (const auto& [source, destination] : pairs) {
    crossing += source == destination ? 0 : 1;
    if (source == self) {
      to[static_cast<size_t>(destination)] = {bytes_of(sent)};
    }
    if (destination == self) {
      from[static_cast<size_t>(source)] = {bytes_of(received)};
    }
  }
  if (ranks > 1) {
    program.ledger().write({.cast = CastKind::kPermute,
                            .axes = axes,
                            .group_bytes = crossing * static_cast<int64_t>(sent.nbytes()),
                            .pass = pass,
                            .reason = reason_of("ppermute"),
                            .source = std::string(kSource)});
    collective::Work work = program.group(axes).all_to_all(std::move(to), std::move(from));
    value_or_throw(work.wait());
  } else if (!pairs.empty()) {
    received.copy_(sent);
  }
  return received;
}

class PermuteNode final : public OpNode {
 public:
  PermuteNode(Program& program, AxisNames axes, Pairs turned)
      : program_(program), axes_(std::move(axes)), turned_(std::move(turned)) {}

  std::vector<at::Tensor> backward(const std::vector<at::Tensor>& gradients) override {
    return {permute(program_, axes_, gradients[0], turned_, Pass::kBackward)};
  }

 private:
  Program& program_;
  AxisNames axes_;
  Pairs turned_;
};

class ExtremeNode final : public OpNode {
 public:
  explicit ExtremeNode(std::string_view op) : op_(op) {}

  std::vector<at::Tensor> backward(const std::vector<at::Tensor>&) override {
    throw Exception(
        {ErrorCode::kType,
         concat("shard_map: ",
                op_,
                " has no gradient; detach() its argument, or psum what should have one")});
  }

 private:
  std::string op_;
};

}  // namespace

at::Tensor manual_move(Program& program,
                       std::string_view op,
                       const at::Tensor& x,
                       const ManualMove& forward,
                       const ManualMove& transpose) {
  at::Tensor result = forward_of(program, op, x, forward);
  if (needs_gradient({x})) {
    record(make_node<MoveNode>(program, transpose, reason_of(op)), {x}, result);
  }
  return result;
}

at::Tensor manual_extreme(Program& program,
                          std::string_view op,
                          const at::Tensor& x,
                          const ManualMove& forward) {
  at::Tensor result = forward_of(program, op, x, forward);
  if (needs_gradient({x})) {
    record(make_node<ExtremeNode>(op), {x}, result);
  }
  return result;
}

at::Tensor manual_permute(Program& program,
                          const AxisNames& axes,
                          const at::Tensor& x,
                          const Pairs& pairs) {
  at::Tensor result;
  {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    result = permute(program, axes, x, pairs, Pass::kForward);
  }
  if (needs_gradient({x})) {
    Pairs turned;
    for (const auto& [source, destination] : pairs) {
      turned.emplace_back(destination, source);
    }
    record(make_node<PermuteNode>(program, axes, std::move(turned)), {x}, result);
  }
  return result;
}

}  // namespace brigade::tensor
