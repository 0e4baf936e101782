// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/module_start.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "parallel/base/philox.h"
#include "parallel/base/text.h"
#include "parallel/tensor/buffers.h"

namespace brigade::zero {
namespace {

std::string text_of(const at::Tensor& tensor) {
  return concat(at::toString(tensor.scalar_type()), "[", join(tensor.sizes().vec()), "]");
}

/// All that ranks must share, as text.
std::string text_of(const ModuleRows& rows) {
  std::string text;
  for (const ModuleRow& row : rows.trained) {
    text += concat(row.facts.name, " ", text_of(row.parameter), " in ", row.facts.unit, "\n");
  }
  for (const auto* others : {&rows.frozen, &rows.buffers}) {
    for (const at::Tensor& tensor : *others) {
      text += concat(text_of(tensor), "\n");
    }
  }
  return text;
}

Result<void> compare(collective::Communicator& world, const ModuleRows& rows) {
  const auto hash = static_cast<int64_t>(random_stream("module", text_of(rows)));
  std::array<int64_t, 2> range = {hash, ~hash};  // the least hash, and of ~hash the least: the most
  collective::Work work = world.all_reduce(
      {collective::bytes_of(std::span<int64_t>(range))}, DType::kInt64, collective::ReduceOp::kMin);
  if (Result<void> done = work.wait(); !done) {
    return done;
  }
  if (range[0] == ~range[1]) {
    return {};
  }
  return fail(ErrorCode::kMismatch,
              concat("the ranks do not have the same module; each must build it alike. Rank ",
                     world.rank(),
                     " has ",
                     rows.trained.size(),
                     " trained parameters, ",
                     rows.frozen.size(),
                     " frozen ones and ",
                     rows.buffers.size(),
                     " buffers",
                     rows.trained.empty() ? "" : concat(", first ", rows.trained[0].facts.name)));
}

Result<void> broadcast(collective::Communicator& world, const at::Tensor& tensor) {
  at::Tensor values = tensor.detach().contiguous();
  if (Result<void> done = world.broadcast({tensor::bytes_of(values)}, 0).wait(); !done) {
    return done;
  }
  tensor.detach().copy_(values);
  return {};
}

}  // namespace

Result<void> start_equal(collective::Communicator& world, const ModuleRows& rows) {
  const c10::NoGradGuard no_history;
  Result<void> done = compare(world, rows);
  for (size_t i = 0; done && i < rows.trained.size(); ++i) {
    done = broadcast(world, rows.trained[i].parameter);
  }
  for (const auto* others : {&rows.frozen, &rows.buffers}) {
    for (size_t i = 0; done && i < others->size(); ++i) {
      done = broadcast(world, (*others)[i]);
    }
  }
  return done;
}

}  // namespace brigade::zero
