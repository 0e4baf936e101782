// SPDX-License-Identifier: Apache-2.0
// A perceptron of two layers, written once and laid out in four ways.
//
//   two_layer_mlp [ranks]     # 1, 2, 3, 4, 8 ... ranks, as threads of this process; 4 if not said
//
// What changes between data parallelism, tensor parallelism and ZeRO-3 is the specs of the two
// weights, and nothing else. docs/SHARDING.md walks through this file and its output.
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>

#include "parallel/collective/world.h"
#include "parallel/mesh/mesh.h"
#include "parallel/sharding/named_sharding.h"
#include "parallel/sharding/partition_spec.h"
#include "parallel/tensor/jit.h"
#include "parallel/tensor/ledger_report.h"
#include "parallel/tensor/ops/einsum.h"
#include "parallel/tensor/ops/elementwise.h"
#include "parallel/tensor/ops/reduce.h"
#include "parallel/tensor/ops/unary.h"
#include "parallel/tensor/program.h"

namespace {

using brigade::mesh::Mesh;
using brigade::sharding::NamedSharding;
using brigade::sharding::PartitionSpec;
using brigade::tensor::Program;
using brigade::tensor::ShardedTensor;

// ---- the program ----------------------------------------------------------------------------

// x (64, 128), w1 (128, 64), b1 (64), w2 (64, 16), b2 (16). `out` says what becomes of the second
// product where its contraction is split: rows over "data", finished over everything else.
ShardedTensor mlp(const ShardedTensor& x,
                  const ShardedTensor& w1,
                  const ShardedTensor& b1,
                  const ShardedTensor& w2,
                  const ShardedTensor& b2) {
  const PartitionSpec out({{"data"}, {}});
  const ShardedTensor hidden = tanh(einsum("bi,ih->bh", x, w1) + b1);
  return einsum("bh,ho->bo", hidden, w2, out) + b2;
}

// ---- its layouts ----------------------------------------------------------------------------

struct Layout {
  std::string name;
  int64_t data;   // ranks along "data"
  int64_t model;  // ranks along "model"
  PartitionSpec w1;
  PartitionSpec w2;
  PartitionSpec bias;  // of both
};

std::vector<Layout> layouts(int64_t ranks) {
  const int64_t data = ranks >= 4 && ranks % 2 == 0 ? ranks / 2 : 1;
  const PartitionSpec whole;
  const PartitionSpec reduced = whole.with_reduced({"data"});
  const PartitionSpec columns = PartitionSpec({{}, {"model"}}).with_reduced({"data"});
  const PartitionSpec inner = PartitionSpec({{"model"}, {}}).with_reduced({"data"});
  const PartitionSpec shards({{"data"}, {}});
  return {{"data parallel", ranks, 1, whole, whole, whole},
          {"data parallel, weights Reduced", ranks, 1, reduced, reduced, reduced},
          {"tensor parallel", data, ranks / data, columns, inner, reduced},
          {"ZeRO-3", ranks, 1, shards, shards, reduced}};
}

// ---- values, the same on every rank ----------------------------------------------------------

at::Tensor numbers(at::IntArrayRef sizes, double phase) {
  const at::Tensor index = at::arange(c10::multiply_integers(sizes), at::kDouble);
  return (at::sin(index * 0.37 + phase) * 0.1).view(sizes).to(at::kFloat);
}

struct Values {
  at::Tensor x = numbers({64, 128}, 0.1);
  at::Tensor w1 = numbers({128, 64}, 0.2);
  at::Tensor b1 = numbers({64}, 0.3);
  at::Tensor w2 = numbers({64, 16}, 0.4);
  at::Tensor b2 = numbers({16}, 0.5);

  at::Tensor on_one_rank() const { return at::tanh(x.mm(w1) + b1).mm(w2) + b2; }
};

// ---- one run --------------------------------------------------------------------------------

const char* yes_or_no(bool answer) {
  return answer ? "yes" : "no";
}

// A parameter: this rank's piece of it, as an autograd leaf.
ShardedTensor parameter(Program& program, const at::Tensor& whole, const PartitionSpec& spec) {
  ShardedTensor piece = distribute(program, whole, spec);
  piece.local().set_requires_grad(true);
  return piece;
}

// Which rows and columns of y each rank holds.
void print_boxes(std::ostream& out, const ShardedTensor& y) {
  const NamedSharding sharding{y.program().mesh(), y.type().spec};
  for (int64_t rank = 0; rank < sharding.mesh.size(); ++rank) {
    const auto box = sharding.box(y.type().global, rank);
    out << "rank " << rank << " holds rows " << box.dims[0].begin << ':' << box.dims[0].end
        << ", columns " << box.dims[1].begin << ':' << box.dims[1].end << '\n';
  }
}

std::string run(Program& program, const Layout& layout) {
  const Mesh& mesh = program.mesh();
  const Values values;
  const NamedSharding rows{mesh, PartitionSpec({{"data"}, {}})};
  const NamedSharding w1_sharding{mesh, layout.w1};
  const NamedSharding w2_sharding{mesh, layout.w2};
  const NamedSharding bias_sharding{mesh, layout.bias};
  const auto forward = brigade::tensor::jit(
      program, mlp, {rows, w1_sharding, bias_sharding, w2_sharding, bias_sharding}, {rows});

  const ShardedTensor w1 = parameter(program, values.w1, layout.w1);
  const ShardedTensor b1 = parameter(program, values.b1, layout.bias);
  const ShardedTensor w2 = parameter(program, values.w2, layout.w2);
  const ShardedTensor b2 = parameter(program, values.b2, layout.bias);
  const ShardedTensor y = forward(values.x, w1, b1, w2, b2);  // x is plain: it is distributed

  std::ostringstream out;
  out << "== " << layout.name << " ==\n"
      << "mesh " << mesh.to_string() << "\n"
      << "w1 " << w1.type().to_string() << "  b1 " << b1.type().to_string() << "  w2 "
      << w2.type().to_string() << "  b2 " << b2.type().to_string() << '\n'
      << "y  " << y.type().to_string() << '\n'
      << rows.picture(y.type().global);
  print_boxes(out, y);
  out << "forward: " << to_table(program.ledger(), mesh);

  program.ledger().clear();
  const ShardedTensor loss = mean(y * y);
  out << "loss:    " << to_table(program.ledger(), mesh);

  program.ledger().clear();
  torch::autograd::backward({loss.local()}, {at::ones_like(loss.local())});
  out << "backward: " << to_table(program.ledger(), mesh) << "gradients: w1 "
      << w1.gradient().type().to_string() << "  b1 " << b1.gradient().type().to_string() << "  w2 "
      << w2.gradient().type().to_string() << "  b2 " << b2.gradient().type().to_string() << '\n';
  out << "equal to one rank within 1e-5: "
      << yes_or_no(at::allclose(collect(y), values.on_one_rank(), 1e-5, 1e-5)) << "\n\n";
  return out.str();
}

// W = [W1 | W2 | ...]: each rank multiplies by its own columns and holds those of the product.
std::string column_split(Program& program) {
  const NamedSharding columns{program.mesh(), PartitionSpec({{}, {"model"}})};
  const NamedSharding whole{program.mesh(), PartitionSpec()};
  const auto product = brigade::tensor::jit(
      program,
      [](const ShardedTensor& x, const ShardedTensor& w) { return einsum("bi,ih->bh", x, w); },
      {whole, columns},
      {columns});
  const Values values;
  const ShardedTensor h = product(values.x, values.w1);
  const auto box = columns.box(h.type().global, program.rank());
  const at::Tensor own = values.w1.narrow(1, box.dims[1].begin, box.dims[1].size());
  std::ostringstream out;
  out << "== column split ==\nW of x @ W, by columns:\n"
      << columns.picture({128, 64}) << "x @ W " << h.type().to_string() << '\n'
      << to_table(program.ledger(), program.mesh())
      << "rank 0 has x @ W1: " << yes_or_no(at::allclose(h.local(), values.x.mm(own), 1e-5, 1e-5))
      << "\n\n";
  return out.str();
}

// ---- ranks ----------------------------------------------------------------------------------

// One rank's view of a mesh over the world's ranks: the same code for threads and for processes.
std::string with_program(brigade::collective::World& world,
                         int64_t data,
                         int64_t model,
                         const std::function<std::string(Program&)>& body) {
  const Mesh mesh = brigade::value_or_throw(Mesh::create({{"data", data}, {"model", model}}));
  Program program(mesh, world.rank(), [&](const auto& members, const std::string& name) {
    return world.group(members, name);
  });
  return body(program);
}

void run_rank(brigade::collective::World& world) {
  at::set_num_threads(1);
  const int64_t ranks = world.size();
  std::string text;
  for (const Layout& layout : layouts(ranks)) {
    text += with_program(
        world, layout.data, layout.model, [&](Program& program) { return run(program, layout); });
  }
  text += with_program(world, 1, ranks, column_split);
  if (world.rank() == 0) {
    const Mesh mesh = brigade::value_or_throw(Mesh::create({{"rank", ranks}}));
    std::cout << "devices: " << ranks << (ranks == 1 ? " rank\n\n" : " ranks\n\n") << text;
  }
}

// All ranks as threads of this process. A rank that fails ends the world, so that none waits.
int run_all(int64_t ranks) {
  std::vector<std::unique_ptr<brigade::collective::World>> worlds =
      brigade::collective::in_process_worlds(ranks, std::chrono::seconds(30));
  std::vector<std::thread> threads;
  for (const auto& world : worlds) {
    threads.emplace_back([&world] {
      try {
        run_rank(*world);
        world->close();
      } catch (const brigade::Exception& exception) {
        world->abort(exception.error());
      } catch (const std::exception& exception) {
        world->abort({brigade::ErrorCode::kInternal, exception.what()});
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  if (const auto failure = worlds[0]->failure()) {
    std::cerr << failure->text << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

}  // namespace

int main(int count, char** arguments) {
  const int64_t ranks = count > 1 ? std::atoll(arguments[1]) : 4;
  if (count > 2 || ranks < 1 || ranks > 64) {
    std::cerr << "two_layer_mlp [ranks]: expected one number of ranks from 1 to 64\n";
    return 2;
  }
  return run_all(ranks);
}
