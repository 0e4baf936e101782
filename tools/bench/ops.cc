// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/ops.h"

#include <chrono>
#include <functional>
#include <iomanip>
#include <ostream>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <nlohmann/json.hpp>
#include <torch/csrc/autograd/autograd.h>

#include "parallel/base/result.h"
#include "parallel/collective/world.h"
#include "parallel/tensor/casts.h"
#include "parallel/tensor/ops/einsum.h"
#include "parallel/tensor/ops/elementwise.h"
#include "parallel/tensor/ops/reduce.h"
#include "parallel/tensor/ops/unary.h"
#include "parallel/tensor/program.h"
#include "trainer/launch/exit_code.h"
#include "trainer/scaling/statistics.h"

namespace brigade::bench {
namespace {

using Clock = std::chrono::steady_clock;
using sharding::PartitionSpec;
using tensor::Program;
using tensor::ShardedTensor;

/// One op, ours and libtorch's, on operands that need gradients.
struct Contest {
  std::string op;
  std::function<at::Tensor()> bare;
  std::function<at::Tensor()> ours;
};

ShardedTensor operand(Program& program, at::IntArrayRef shape, const PartitionSpec& spec) {
  return ShardedTensor(
      program, {DType::kFloat32, shape.vec(), spec}, at::rand(shape).set_requires_grad(true));
}

/// Operands live in the closures.
std::vector<Contest> contests(Program& program) {
  const PartitionSpec rows({{"data"}});
  const ShardedTensor x = operand(program, {4, 8}, rows);
  const ShardedTensor y = operand(program, {4, 8}, rows);
  const ShardedTensor w = operand(program, {8, 8}, PartitionSpec().with_reduced({"data"}));
  const ShardedTensor stored = operand(program, {8, 8}, rows);
  const PartitionSpec used = w.type().spec;
  return {
      {"cast S -> Rd",
       [stored] { return at::alias(stored.local()); },
       [stored, used] { return tensor::reshard(stored, used, "bench").local().alias(); }},
      {"add",
       [x, y] { return at::add(x.local(), y.local()); },
       [x, y] { return tensor::add(x, y).local(); }},
      {"mul", [x, y] { return at::mul(x.local(), y.local()); }, [x, y] { return (x * y).local(); }},
      {"exp", [x] { return at::exp(x.local()); }, [x] { return tensor::exp(x).local(); }},
      {"sum",
       [x] { return at::sum(x.local(), at::IntArrayRef{0}); },
       [x] { return tensor::sum(x, {0}).local(); }},
      {"einsum",
       [x, w] { return at::matmul(x.local(), w.local()); },
       [x, w] { return tensor::einsum("bd,dh->bh", x, w).local(); }},
  };
}

/// Microseconds per call.
double time_calls(const std::function<at::Tensor()>& call, int calls, bool backward) {
  const at::Tensor cotangent = at::ones_like(call());
  const Clock::time_point begin = Clock::now();
  for (int i = 0; i < calls; ++i) {
    const at::Tensor result = call();
    if (backward) {
      torch::autograd::backward({result}, {cotangent});
    }
  }
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count() / calls;
}

OpTimes time_contest(const Contest& contest, int rounds, int calls) {
  std::vector<double> times[4];
  for (int round = 0; round < rounds; ++round) {
    for (const bool backward : {false, true}) {
      times[backward ? 2 : 0].push_back(time_calls(contest.bare, calls, backward));
      times[backward ? 3 : 1].push_back(time_calls(contest.ours, calls, backward));
    }
  }
  return {contest.op,
          scaling::median(times[0]),
          scaling::median(times[1]),
          scaling::median(times[2]),
          scaling::median(times[3])};
}

}  // namespace

std::vector<OpTimes> time_ops(int rounds, int calls) {
  at::set_num_threads(1);
  const auto worlds = collective::in_process_worlds(1, std::chrono::seconds(60));
  Program program(value_or_throw(mesh::Mesh::create({{"data", 1}})),
                  0,
                  [&](const std::vector<int64_t>& members, const std::string& name) {
                    return worlds[0]->group(members, name);
                  });
  std::vector<OpTimes> all;
  for (const Contest& contest : contests(program)) {
    all.push_back(time_contest(contest, rounds, calls));
  }
  return all;
}

int ops(std::ostream& out) {
  constexpr int kRounds = 51;
  constexpr int kCalls = 500;
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  out << "microseconds per call    forward: bare   ours  added    with backward: bare   ours  "
         "added\n"
      << std::fixed << std::setprecision(2);
  for (const OpTimes& times : time_ops(kRounds, kCalls)) {
    out << std::left << std::setw(24) << times.op << std::right << std::setw(15)
        << times.bare_forward_us << std::setw(7) << times.forward_us << std::setw(7)
        << times.added_forward_us() << std::setw(23) << times.bare_both_us << std::setw(7)
        << times.both_us << std::setw(7) << times.added_both_us() << '\n';
    lines.push_back({{"op", times.op},
                     {"bare_forward_us", times.bare_forward_us},
                     {"forward_us", times.forward_us},
                     {"bare_forward_backward_us", times.bare_both_us},
                     {"forward_backward_us", times.both_us}});
  }
  out << nlohmann::ordered_json{{"bench", "ops"}, {"calls", kRounds * kCalls}, {"ops", lines}}
             .dump()
      << std::endl;
  return launch::kExitDone;
}

}  // namespace brigade::bench
