// SPDX-License-Identifier: Apache-2.0
// Random reshards carried out on simulated ranks: every rank ends with the right box of the same
// tensor, forward and backward, and no more is moved than by gathering and slicing.
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "parallel/sharding/op_plan.h"
#include "tests/parallel/sharding/random_specs.h"
#include "tests/parallel/sharding/reshard_bytes.h"
#include "tests/parallel/sharding/simulated.h"
#include "tests/parallel/sharding/spelled.h"

namespace brigade::sharding {
namespace {

struct Case {
  mesh::Mesh mesh;
  TensorType from;
  TensorType to;
};

/// Even and uneven dims, dims smaller than an axis, empty ones.
Case random_case(unsigned seed) {
  std::mt19937 random(seed);
  const std::vector<std::string> meshes = {
      "x8", "x2,y4", "x4,y2", "x3,y2", "x2,y3", "x2,y2,z2", "x2,y1,z3", "w1,x2,y2,z2"};
  const std::vector<int64_t> sizes = {0, 1, 2, 3, 5, 8, 8, 12, 16};
  Case drawn;
  drawn.mesh = mesh_of(meshes[random() % meshes.size()]);
  for (size_t rank = random() % 4; rank > 0; --rank) {
    drawn.from.global.push_back(sizes[random() % sizes.size()]);
  }
  drawn.to = drawn.from;
  drawn.from.spec = random_legal_spec(random, drawn.mesh, drawn.from.global.size());
  drawn.to.spec = random_legal_spec(random, drawn.mesh, drawn.from.global.size());
  return drawn;
}

void expect_same_tensor(std::mt19937& random, const Case& drawn, const Casts& casts) {
  const mesh::Mesh& mesh = drawn.mesh;
  const Array whole = random_array(random, drawn.from.global);
  Ranks there = forward(mesh, distribute(random, mesh, whole, drawn.from), casts);
  EXPECT_EQ(assemble(mesh, there, drawn.to).data, whole.data) << "values";
  Ranks back = backward(mesh, distribute(random, mesh, whole, dual(drawn.to)), drawn.from, casts);
  EXPECT_EQ(assemble(mesh, back, dual(drawn.from)).data, whole.data) << "gradients";
}

TEST(ReshardValues, AreTheTensorsOwnWithinTheBytesOfGatherThenSlice) {
  constexpr unsigned kSeeds = 6000;
  size_t planned = 0;
  size_t permuted = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const Case drawn = random_case(seed);
    const Result<Casts> casts = plan_reshard(drawn.mesh, drawn.from, drawn.to.spec);
    SCOPED_TRACE(concat("seed ",
                        seed,
                        " on ",
                        drawn.mesh.to_string(),
                        ": ",
                        drawn.from.to_string(),
                        " to ",
                        drawn.to.to_string(),
                        ": ",
                        casts ? steps_of(*casts) : casts.error().text));
    ASSERT_EQ(casts.has_value(), has_way(drawn.mesh, drawn.from.spec, drawn.to.spec));
    if (!casts) {
      continue;
    }
    ++planned;
    permuted += std::any_of(casts->begin(),
                            casts->end(),
                            [](const CastStep& step) { return step.kind == CastKind::kPermute; })
                    ? 1U
                    : 0U;
    ASSERT_EQ(casts->empty() ? drawn.from.spec : casts->back().to.spec, drawn.to.spec);
    const double bound = gather_then_slice(drawn.mesh, drawn.from, drawn.to.spec);
    ASSERT_LE(received(drawn.mesh, drawn.from, *casts), bound * (1 + 1e-9) + 1e-9);
    std::mt19937 random(seed);
    expect_same_tensor(random, drawn, *casts);
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(planned, 2000U);
  EXPECT_GT(permuted, 100U);
}

/// What ranks hold of arange(size) after a cast to `to`.
std::vector<std::vector<double>> cast_arange(int64_t size,
                                             const std::string& mesh,
                                             const std::string& from,
                                             const std::string& to) {
  std::mt19937 random(1);
  Array whole(whole_box(Shape{size}));
  for (size_t i = 0; i < whole.data.size(); ++i) {
    whole.data[i] = static_cast<double>(i);
  }
  const Casts casts = value_or_throw(plan_reshard(mesh_of(mesh), type(from), spec(to)));
  Ranks ranks = distribute(random, mesh_of(mesh), whole, type(from));
  std::vector<std::vector<double>> held;
  for (const Array& array : forward(mesh_of(mesh), std::move(ranks), casts)) {
    held.push_back(array.data);
  }
  return held;
}

using Values = std::vector<std::vector<double>>;

TEST(ReshardValues, I3_MakesTermsOfASumFree) {
  EXPECT_EQ(cast_arange(4, "x2", "4", "4{U:x}"), (Values{{0, 1, 2, 3}, {0, 0, 0, 0}}));
  EXPECT_EQ(cast_arange(4, "x2", "4@x", "4{U:x}"), (Values{{0, 1, 0, 0}, {0, 0, 2, 3}}));
}

TEST(ReshardValues, I9_ComeBackAsTheyWent) {
  const mesh::Mesh mesh = mesh_of("x2,y2,z2");
  for (const auto& [from, to] :
       {std::pair("4@(x,z),4@y", "4@x,4{U:y,z}"), std::pair("4@x,2@y", "4,2@x{U:y}")}) {
    std::mt19937 random(1);
    const Array whole = random_array(random, type(from).global);
    const Ranks start = distribute(random, mesh, whole, type(from));
    const Casts there = value_or_throw(plan_reshard(mesh, type(from), spec(to)));
    const Casts back = value_or_throw(plan_reshard(mesh, type(to), spec(from)));
    const Ranks end = forward(mesh, forward(mesh, start, there), back);
    for (size_t rank = 0; rank < end.size(); ++rank) {
      EXPECT_EQ(end[rank].box, start[rank].box) << from;
      EXPECT_EQ(end[rank].data, start[rank].data) << from;
    }
  }
}

TEST(ReshardValues, F10_JoinTermsOfAMaximumByTheMaximum) {
  Ranks terms;
  for (const std::vector<double>& values : Values{{2, 3}, {6, 7}}) {
    terms.emplace_back(whole_box(Shape{2}));
    terms.back().data = values;
  }
  const auto joined = [&](const std::string& from, const std::string& to) {
    const Casts casts = value_or_throw(plan_reshard(mesh_of("x2"), type(from), spec(to)));
    Values held;
    for (const Array& array : forward(mesh_of("x2"), terms, casts)) {
      held.push_back(array.data);
    }
    return held;
  };
  EXPECT_EQ(joined("2{Umax:x}", "2"), (Values{{6, 7}, {6, 7}}));
  EXPECT_EQ(joined("2{Umin:x}", "2"), (Values{{2, 3}, {2, 3}}));
  EXPECT_EQ(joined("2{Umax:x}", "2@x"), (Values{{6}, {7}}));
  EXPECT_FALSE(plan_reshard(mesh_of("x2"), type("2{Umax:x}"), spec("2{U:x}")));
}

}  // namespace
}  // namespace brigade::sharding
