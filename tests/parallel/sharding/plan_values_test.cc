// SPDX-License-Identifier: Apache-2.0
// Random plans carried out on simulated ranks: values and gradients equal those of the unsharded
// op. Whole numbers throughout, so equal means equal.
#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "parallel/sharding/op_plan.h"
#include "parallel/sharding/reduce_plan.h"
#include "tests/parallel/sharding/simulated.h"
#include "tests/parallel/sharding/spelled.h"

namespace brigade::sharding {
namespace {

/// A product or sum over letters: the operands' and the result's, each letter a dim. Letters of
/// size 1 in an operand, larger elsewhere, are upper case there: broadcast.
struct Formula {
  std::vector<std::string> operands;
  std::string result;
  bool sum = false;
};

std::vector<int64_t> pick(const std::map<char, int64_t>& values, const std::string& letters) {
  std::vector<int64_t> index;
  for (const char letter : letters) {
    index.push_back(values.at(letter));
  }
  return index;
}

// Visits all points of the letters' ranges, as boxes of operands and result give them.
void for_each_point(const Formula& formula,
                    std::vector<Array*> operands,
                    Array& result,
                    const std::function<void(const std::map<char, int64_t>&)>& visit) {
  std::map<char, Interval> ranges;
  operands.push_back(&result);
  std::vector<std::string> letters = formula.operands;
  letters.push_back(formula.result);
  for (size_t i = 0; i < letters.size(); ++i) {
    for (size_t dim = 0; dim < letters[i].size(); ++dim) {
      const auto [at, fresh] = ranges.emplace(letters[i][dim], operands[i]->box.dims[dim]);
      ASSERT_EQ(at->second, operands[i]->box.dims[dim]) << "local shapes do not fit";
    }
  }
  Box box;
  std::string order;
  for (const auto& [letter, range] : ranges) {
    order.push_back(letter);
    box.dims.push_back(range);
  }
  for_each_index(box, [&](const std::vector<int64_t>& index) {
    std::map<char, int64_t> point;
    for (size_t i = 0; i < index.size(); ++i) {
      point[order[i]] = index[i];
    }
    visit(point);
  });
}

void evaluate(const Formula& formula, std::vector<Array*> operands, Array& result) {
  for_each_point(formula, operands, result, [&](const std::map<char, int64_t>& point) {
    double value = formula.sum ? 0 : 1;
    for (size_t i = 0; i < operands.size(); ++i) {
      const double factor = operands[i]->at(pick(point, formula.operands[i]));
      value = formula.sum ? value + factor : value * factor;
    }
    result.at(pick(point, formula.result)) += value;
  });
}

void differentiate(const Formula& formula,
                   std::vector<Array*> operands,
                   Array& cotangent,
                   std::vector<Array>& gradients) {
  for_each_point(formula, operands, cotangent, [&](const std::map<char, int64_t>& point) {
    for (size_t i = 0; i < operands.size(); ++i) {
      double value = cotangent.at(pick(point, formula.result));
      for (size_t j = 0; j < operands.size() && !formula.sum; ++j) {
        value *= i == j ? 1 : operands[j]->at(pick(point, formula.operands[j]));
      }
      gradients[i].at(pick(point, formula.operands[i])) += value;
    }
  });
}

std::vector<Array*> pointers(std::vector<Array>& arrays) {
  std::vector<Array*> all;
  for (Array& array : arrays) {
    all.push_back(&array);
  }
  return all;
}

std::vector<Array*> of_rank(std::vector<Ranks>& operands, size_t rank) {
  std::vector<Array*> all;
  for (Ranks& operand : operands) {
    all.push_back(&operand[rank]);
  }
  return all;
}

std::vector<Array> zeros_like(const std::vector<Array*>& arrays) {
  std::vector<Array> zeros;
  for (const Array* array : arrays) {
    zeros.emplace_back(array->box);
  }
  return zeros;
}

/// Carries out a plan forward and backward and compares with the op on whole tensors.
void expect_same_values(std::mt19937& random,
                        const mesh::Mesh& mesh,
                        const Formula& formula,
                        const std::vector<TensorType>& types,
                        const OpPlan& plan) {
  std::vector<Array> whole_operands;
  std::vector<Ranks> operands;
  for (size_t i = 0; i < types.size(); ++i) {
    whole_operands.push_back(random_array(random, types[i].global));
    operands.push_back(
        forward(mesh, distribute(random, mesh, whole_operands[i], types[i]), plan.inputs[i]));
  }
  Array expected(whole(plan.result().global));
  evaluate(formula, pointers(whole_operands), expected);
  const NamedSharding local{mesh, plan.local_result.spec};
  Ranks results;
  for (int64_t rank = 0; rank < mesh.size(); ++rank) {
    results.emplace_back(local.box(plan.local_result.global, rank));
    evaluate(formula, of_rank(operands, static_cast<size_t>(rank)), results.back());
  }
  results = forward(mesh, std::move(results), plan.output);
  EXPECT_EQ(assemble(mesh, results, plan.result()).data, expected.data) << "values";

  const Array cotangent = random_array(random, plan.result().global);
  std::vector<Array> expected_gradients = zeros_like(pointers(whole_operands));
  Array whole_cotangent = cotangent;
  differentiate(formula, pointers(whole_operands), whole_cotangent, expected_gradients);
  Ranks cotangents = backward(mesh,
                              distribute(random, mesh, cotangent, dual(plan.result())),
                              plan.local_result,
                              plan.output);
  std::vector<Ranks> gradients(types.size());
  for (size_t rank = 0; rank < results.size(); ++rank) {
    const std::vector<Array*> own = of_rank(operands, rank);
    std::vector<Array> zeros = zeros_like(own);
    differentiate(formula, own, cotangents[rank], zeros);
    for (size_t i = 0; i < zeros.size(); ++i) {
      gradients[i].push_back(std::move(zeros[i]));
    }
  }
  for (size_t i = 0; i < types.size(); ++i) {
    gradients[i] = backward(mesh, std::move(gradients[i]), types[i], plan.inputs[i]);
    EXPECT_EQ(assemble(mesh, gradients[i], dual(types[i])).data, expected_gradients[i].data)
        << "gradient of operand " << i;
  }
}

mesh::Mesh random_mesh(std::mt19937& random) {
  const std::vector<std::string> meshes = {
      "x2", "x3", "x2,y2", "x3,y2", "x2,y3", "x2,y1", "x2,y2,z2"};
  return mesh_of(meshes[random() % meshes.size()]);
}

/// Each axis: to a random dim, or to one of the sets, or to none. `sums`: may be unreduced.
PartitionSpec random_spec(std::mt19937& random, const mesh::Mesh& mesh, size_t rank, bool sums) {
  std::vector<mesh::Axis> axes = mesh.axes();
  std::shuffle(axes.begin(), axes.end(), random);
  PartitionSpec spec;
  for (const mesh::Axis& axis : axes) {
    const size_t choice = random() % (rank + 3);
    if (choice < rank) {
      AxisNames dim = spec.dim(choice);
      dim.push_back(axis.name);
      spec = spec.with_dim(choice, std::move(dim));
    } else if (choice == rank || (choice == rank + 1 && sums)) {
      AxisNames set = choice == rank ? spec.reduced() : spec.unreduced();
      set.push_back(axis.name);
      spec =
          choice == rank ? spec.with_reduced(std::move(set)) : spec.with_unreduced(std::move(set));
    }
  }
  return spec;
}

std::string describe(unsigned seed, const std::vector<TensorType>& types, const mesh::Mesh& mesh) {
  std::string text = concat("seed ", seed, " on ", mesh.to_string());
  for (const TensorType& type : types) {
    text += concat(' ', type.to_string(mesh));
  }
  return text;
}

std::vector<TensorType> random_types(std::mt19937& random,
                                     const mesh::Mesh& mesh,
                                     const Formula& formula,
                                     bool sums) {
  std::map<char, int64_t> sizes;
  std::vector<TensorType> types;
  for (const std::string& letters : formula.operands) {
    TensorType type;
    for (const char letter : letters) {
      const int64_t size = std::vector<int64_t>{1, 2, 3, 4, 6}[random() % 5];
      type.global.push_back(letter < 'a' ? 1 : sizes.emplace(letter, size).first->second);
    }
    type.spec = random_spec(random, mesh, letters.size(), sums);
    types.push_back(std::move(type));
  }
  return types;
}

bool names_one_of(const std::string& text,
                  const std::vector<TensorType>& types,
                  const mesh::Mesh& mesh) {
  return std::any_of(types.begin(), types.end(), [&](const TensorType& type) {
    return text.find(type.to_string(mesh)) != std::string::npos;
  });
}

TEST(PlanValues, OfEinsumsEqualTheUnshardedOnes) {
  const std::vector<Formula> formulas = {{{"mk", "kn"}, "mn"},
                                         {{"bsd", "hd"}, "bsh"},
                                         {{"bmk", "bkn"}, "bmn"},
                                         {{"km", "kn"}, "nm"},
                                         {{"bm", "bn"}, "bmn"},
                                         {{"ij", "jk"}, "k"},
                                         {{"i", "i"}, ""}};
  std::map<std::string, size_t> planned;
  for (unsigned seed = 0; seed < 12000; ++seed) {
    std::mt19937 random(seed);
    const mesh::Mesh mesh = random_mesh(random);
    const Formula& formula = formulas[random() % formulas.size()];
    const std::vector<TensorType> types = random_types(random, mesh, formula, false);
    const std::string equation =
        concat(formula.operands[0], ',', formula.operands[1], "->", formula.result);
    std::optional<PartitionSpec> out;
    if (random() % 3 != 0) {
      out = random_spec(random, mesh, formula.result.size(), true);
    }
    const Result<OpPlan> plan = plan_einsum(mesh, equation, types[0], types[1], out);
    if (plan) {
      ++planned[equation];
      const std::string what = concat(
          describe(seed, types, mesh), ' ', equation, out ? concat(" out=", out->to_string()) : "");
      SCOPED_TRACE(what);
      ASSERT_TRUE(!out || plan->result().spec == *out);
      expect_same_values(random, mesh, formula, types, *plan);
      ASSERT_FALSE(HasFailure());
    } else {
      const Error& error = plan.error();
      ASSERT_TRUE(error.code == ErrorCode::kType && names_one_of(error.text, types, mesh))
          << "unclear error: " << error.text;
    }
  }
  for (const Formula& formula : formulas) {
    const std::string equation =
        concat(formula.operands[0], ',', formula.operands[1], "->", formula.result);
    EXPECT_GT(planned[equation], 200U) << equation;
  }
}

TEST(PlanValues, OfElementwiseOpsEqualTheUnshardedOnes) {
  const std::vector<Formula> products = {{{"ij", "ij"}, "ij"},
                                         {{"ij", "j"}, "ij"},
                                         {{"Aj", "ij"}, "ij"},
                                         {{"ij", ""}, "ij"},
                                         {{"iA", "j"}, "ij"},
                                         {{"ij", "ij", "j"}, "ij"}};
  size_t planned = 0;
  for (unsigned seed = 0; seed < 12000; ++seed) {
    std::mt19937 random(seed);
    const mesh::Mesh mesh = random_mesh(random);
    Formula formula = products[random() % products.size()];
    formula.sum = random() % 2 == 0;
    std::vector<TensorType> types = random_types(random, mesh, formula, true);
    if (formula.sum && random() % 3 == 0) {  // equal sums, which chance alone seldom draws
      for (TensorType& type : types) {
        type.spec = PartitionSpec().with_unreduced({"x"});
      }
    }
    const Result<OpPlan> plan =
        plan_elementwise(mesh, formula.sum ? "add" : "mul", types, formula.sum);
    if (plan) {
      ++planned;
      SCOPED_TRACE(describe(seed, types, mesh) + (formula.sum ? " add" : " mul"));
      expect_same_values(random, mesh, formula, types, *plan);
      ASSERT_FALSE(HasFailure());
    }
  }
  EXPECT_GT(planned, 2000U);
}

TEST(PlanValues, OfSumsEqualTheUnshardedOnes) {
  size_t planned = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    const mesh::Mesh mesh = random_mesh(random);
    const Formula formula = {{"ij"}, std::vector<std::string>{"i", "j", ""}[random() % 3], true};
    const std::vector<TensorType> types = random_types(random, mesh, formula, true);
    std::vector<int64_t> dims;
    for (const int64_t dim : {0, 1}) {
      if (formula.result.find(dim == 0 ? 'i' : 'j') == std::string::npos) {
        dims.push_back(dim);
      }
    }
    std::optional<PartitionSpec> out;
    if (random() % 2 == 0) {
      out = random_spec(random, mesh, formula.result.size(), true);
    }
    const Result<OpPlan> plan = plan_reduce(mesh, Reduction::kSum, types[0], dims, false, out);
    if (plan) {
      ++planned;
      SCOPED_TRACE(describe(seed, types, mesh) + (out ? " out=" + out->to_string() : ""));
      expect_same_values(random, mesh, formula, types, *plan);
      ASSERT_FALSE(HasFailure());
    }
  }
  EXPECT_GT(planned, 1000U);
}

TEST(PlanValues, OfReshardsAreTheTensorsOwn) {
  const Formula identity = {{"ijk"}, "ijk", true};
  size_t planned = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    std::mt19937 random(seed);
    const mesh::Mesh mesh = random_mesh(random);
    const std::vector<TensorType> types = random_types(random, mesh, identity, true);
    const PartitionSpec to = random_spec(random, mesh, 3, true);
    const Result<Casts> casts = plan_reshard(mesh, types[0], to);
    if (casts) {
      ++planned;
      OpPlan plan;
      plan.inputs = {*casts};
      plan.local_result = {types[0].dtype, types[0].global, to};
      SCOPED_TRACE(describe(seed, types, mesh) + " to " + to.to_string() + ": " + steps_of(*casts));
      expect_same_values(random, mesh, identity, types, plan);
      ASSERT_FALSE(HasFailure());
    }
  }
  EXPECT_GT(planned, 2000U);
}

}  // namespace
}  // namespace brigade::sharding
