// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/jit.h"

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "parallel/tensor/casts.h"
#include "parallel/tensor/ops/einsum.h"
#include "parallel/tensor/ops/elementwise.h"
#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

using sharding::NamedSharding;
using sharding::PartitionSpec;
using ::testing::AllOf;
using ::testing::HasSubstr;

const std::vector<mesh::Axis> kMesh = {{"data", 2}, {"model", 2}};
const PartitionSpec kWhole;
const PartitionSpec kRows({{"data"}, {}});
const PartitionSpec kColumns({{}, {"model"}});

ShardedTensor product(const ShardedTensor& x, const ShardedTensor& w) {
  return einsum("bi,io->bo", x, w);
}

ShardedTensor twice(const ShardedTensor& x) {
  return add(x, x);
}

Error error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Exception& exception) {
    return exception.error();
  }
  return {ErrorCode::kInternal, "no error"};
}

void expect_type_error(const std::function<void()>& call,
                       const ::testing::Matcher<std::string>& text) {
  const Error error = error_of(call);
  EXPECT_EQ(error.code, ErrorCode::kType) << error.text;
  EXPECT_THAT(error.text, text);
  EXPECT_FALSE(error.rule.empty()) << error.text;
}

TEST(Jit, DistributesPlainTensorsAndTakesCommittedOnes) {
  on_mesh(kMesh, [](Program& program) {
    const at::Tensor x = numbers({7, 6}, 0.1);
    const at::Tensor w = numbers({6, 5}, 0.2);
    const auto f = jit(program, product, {kRows, kColumns}, {PartitionSpec({{"data"}, {"model"}})});
    const ShardedTensor y = f(x, distribute(program, w, kColumns));
    EXPECT_EQ(y.type().to_string(), "f32[7@data,5@model]");
    EXPECT_TRUE(at::allclose(collect(y), x.matmul(w), 1e-5, 1e-5));
  });
}

TEST(Jit, FollowsTheArgumentWhereNothingIsAsked) {
  on_mesh(kMesh, [](Program& program) {
    const auto f = jit(program, twice, {std::nullopt}, {std::nullopt});
    EXPECT_EQ(f(numbers({4, 6}, 0)).type().spec, kWhole);
    EXPECT_EQ(f(distribute(program, numbers({4, 6}, 0), kRows)).type().spec, kRows);
  });
}

TEST(Jit, ReturnsWhatTheFunctionReturns) {
  on_mesh(kMesh, [](Program& program) {
    const at::Tensor x = numbers({4, 6}, 0);
    const auto pair = jit(program,
                          [](const ShardedTensor& a) { return std::make_tuple(a, add(a, a)); },
                          {kRows},
                          {kRows, kRows});
    const auto [one, two] = pair(x);
    EXPECT_TRUE(at::equal(2 * one.local(), two.local()));
    const auto list = jit(program,
                          [](const ShardedTensor& a) {
                            return std::vector<ShardedTensor>{a, a, a};
                          },
                          {kRows},
                          {kRows, std::nullopt, kRows});
    EXPECT_EQ(list(x).size(), 3U);
  });
}

TEST(Jit, PlansNothingTheSecondTime) {
  on_mesh(kMesh, [](Program& program) {
    const auto f = jit(program, product, {kRows, kColumns}, {std::nullopt});
    const at::Tensor x = numbers({4, 6}, 0.1);
    const at::Tensor w = numbers({6, 4}, 0.2);
    (void)f(x, w);
    const int64_t plans = program.plans_made();
    (void)f(x, w);
    EXPECT_EQ(program.plans_made(), plans);
    (void)f(numbers({8, 6}, 0.1), w);
    EXPECT_GT(program.plans_made(), plans);
  });
}

TEST(Jit, GivesPlainArgumentsTheirWholeGradient) {
  on_mesh(kMesh, [](Program& program) {
    const at::Tensor x = numbers({7, 6}, 0.1);
    const at::Tensor w = numbers({6, 5}, 0.2).set_requires_grad(true);
    const auto f = jit(program, product, {kRows, kColumns}, {std::nullopt});
    const ShardedTensor y = f(x, w);
    torch::autograd::backward({y.local()}, {at::ones_like(y.local())});
    EXPECT_TRUE(at::allclose(w.grad(), x.t().matmul(at::ones({7, 5})), 1e-5, 1e-5));
  });
}

TEST(Jit, RefusesACommittedArgumentOfAnotherSpec) {
  on_mesh(kMesh, [](Program& program) {
    const auto f = jit(program, product, {kRows, kColumns}, {std::nullopt});
    const ShardedTensor w = distribute(program, numbers({6, 4}, 0), kRows);
    expect_type_error(
        [&] {
          (void)f(numbers({4, 6}, 0), w);
        },
        "jit: argument 1 is f32[6@data,4], but in_shardings[1] asks for "
        "f32[6,4@model]; reshard it before the call");
  });
}

TEST(Jit, RefusesAResultOfAnotherSpec) {
  on_mesh(kMesh, [](Program& program) {
    const auto f = jit(program, twice, {kRows}, {kWhole});
    expect_type_error(
        [&] {
          (void)f(numbers({4, 6}, 0));
        },
        "jit: output 0 is f32[4@data,6], but out_shardings[0] asks for f32[4,6]; "
        "reshard it at the end of the function");
  });
}

TEST(Jit, RefusesAMeshThatIsNotThePrograms) {
  on_mesh(kMesh, [](Program& program) {
    const mesh::Mesh other = value_or_throw(mesh::Mesh::create({{"data", 4}}));
    expect_type_error(
        [&] {
          (void)jit(program, twice, {NamedSharding{other, kRows}}, {std::nullopt});
        },
        "jit: in_shardings[0] was made for the mesh data=4; the program's mesh is data=2 x "
        "model=2");
    const auto f = jit(program, twice, {NamedSharding{program.mesh(), kRows}}, {kRows});
    EXPECT_EQ(f(numbers({4, 6}, 0)).type().spec, kRows);
  });
}

TEST(Jit, RefusesShardingsThatAreIllegalOrMissing) {
  on_mesh(kMesh, [](Program& program) {
    expect_type_error(
        [&] { (void)jit(program, twice, {std::nullopt}, {PartitionSpec({{"pipe"}})}); },
        AllOf(HasSubstr("jit: out_shardings[0]: "), HasSubstr("\"pipe\"")));
    const auto f = jit(program, twice, {kRows}, {});
    expect_type_error(
        [&] {
          (void)f(numbers({4, 6}, 0));
        },
        HasSubstr("jit: 1 results, but 0 out_shardings"));
    const auto g = jit(program, twice, {kRows, kRows}, {kRows});
    expect_type_error(
        [&] {
          (void)g(numbers({4, 6}, 0));
        },
        HasSubstr("jit: 1 arguments, but 2 in_shardings"));
    const auto h = jit(program, twice, {PartitionSpec({{}, {}, {"data"}})}, {std::nullopt});
    expect_type_error([&] { (void)h(numbers({4, 6}, 0)); }, HasSubstr("dims"));
  });
}

TEST(Jit, RefusesWhatIsNoTensorOfThisProgram) {
  on_mesh({{"data", 1}}, [](Program& program) {
    const auto f = jit(program, twice, {std::nullopt}, {std::nullopt});
    expect_type_error([&] { (void)f(ShardedTensor()); },
                      HasSubstr("jit: argument 0 is no tensor (undefined)"));
    Program other(program.mesh(), 0, {});
    const ShardedTensor foreign = distribute(other, numbers({4}, 0), kWhole);
    expect_type_error([&] { (void)f(foreign); },
                      HasSubstr("jit: argument 0, f32[4], belongs to another Program"));
  });
}

/// What all ranks say when each runs `function`.
std::vector<Error> errors_of(const std::vector<mesh::Axis>& axes,
                             const std::function<void(Program&)>& function) {
  std::mutex mutex;
  std::vector<Error> errors;
  on_mesh(axes, [&](Program& program) {
    const Error error = error_of([&] { function(program); });
    const std::lock_guard<std::mutex> lock(mutex);
    errors.push_back(error);
  });
  return errors;
}

TEST(Jit, NamesRanksThatTookAnotherBranch) {
  const std::vector<Error> errors = errors_of(kMesh, [](Program& program) {
    const auto f = jit(program,
                       [&](const ShardedTensor& x) {
                         const ShardedTensor y = add(x, x);
                         return program.rank() == 2 ? einsum("ij,ij->ij", y, y) : add(y, y);
                       },
                       {kRows},
                       {kRows});
    (void)f(numbers({4, 6}, 0));
  });
  ASSERT_EQ(errors.size(), 4U);
  for (const Error& error : errors) {
    EXPECT_EQ(error.code, ErrorCode::kMismatch);
    EXPECT_THAT(error.text, HasSubstr("a branch was not taken alike on all ranks: at op 2 "));
    EXPECT_THAT(error.text, HasSubstr("ranks 0, 1, 3 ran add f32[4@data,6], f32[4@data,6]"));
    EXPECT_THAT(error.text, HasSubstr("rank 2 ran einsum f32[4@data,6]"));
    EXPECT_EQ(error, errors.front());
  }
}

TEST(Jit, NamesRanksThatRanMoreOps) {
  const std::vector<Error> errors = errors_of({{"data", 3}}, [](Program& program) {
    const auto f = jit(program,
                       [&](const ShardedTensor& x) { return program.rank() == 0 ? x : add(x, x); },
                       {std::nullopt},
                       {std::nullopt});
    (void)f(numbers({4, 6}, 0));
  });
  ASSERT_EQ(errors.size(), 3U);
  for (const Error& error : errors) {
    EXPECT_THAT(error.text,
                HasSubstr("at op 0 rank 0 ran nothing more; ranks 1, 2 ran add f32[4,6]"));
  }
}

TEST(Jit, ComparesInnerCallsByThemselves) {
  const std::vector<Error> errors = errors_of({{"data", 2}}, [](Program& program) {
    const auto inner = jit(program,
                           [&](const ShardedTensor& x) {
                             return program.rank() == 0 ? twice(x) : einsum("i,i->i", x, x);
                           },
                           {std::nullopt},
                           {std::nullopt});
    const auto outer = jit(program,
                           [&](const ShardedTensor& x) { return inner(twice(x)); },
                           {std::nullopt},
                           {std::nullopt});
    (void)outer(numbers({4}, 0));
  });
  ASSERT_EQ(errors.size(), 2U);
  for (const Error& error : errors) {
    EXPECT_THAT(error.text, HasSubstr("at op 0 rank 0 ran add"));  // the outer add is not of it
  }
}

TEST(Jit, RanksThatCallDifferentCollectivesAreNamedWithGroupAndSequenceNumber) {
  const std::vector<Error> errors = errors_of({{"data", 2}}, [](Program& program) {
    const auto f = jit(program,
                       [&](const ShardedTensor& x) {
                         return program.rank() == 0
                                    ? reshard(x, kWhole, "rank 0 gathers")
                                    : reshard(x, PartitionSpec({{}, {"data"}}), "rank 1 moves");
                       },
                       {kRows},
                       {std::nullopt});
    (void)f(numbers({4, 6}, 0));
  });
  ASSERT_EQ(errors.size(), 2U);
  for (const Error& error : errors) {
    EXPECT_EQ(error.code, ErrorCode::kMismatch) << error.text;
    EXPECT_THAT(error.text,
                AllOf(HasSubstr("data"),
                      HasSubstr("seq 0"),
                      HasSubstr("rank 0 all_gather"),
                      HasSubstr("rank 1 all_to_all")));
  }
}

}  // namespace
}  // namespace brigade::tensor
