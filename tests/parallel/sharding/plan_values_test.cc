// SPDX-License-Identifier: Apache-2.0
// Random plans carried out on simulated ranks: values and gradients equal those of the unsharded
// op. Whole numbers throughout, so equal means equal.
#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "parallel/sharding/elementwise_plan.h"
#include "parallel/sharding/op_plan.h"
#include "parallel/sharding/reduce_plan.h"
#include "tests/parallel/sharding/simulated.h"
#include "tests/parallel/sharding/spelled.h"

namespace brigade::sharding {
namespace {

/// A product or sum of operands, or a choice by the first operand's sign between two others; summed
/// over letters that the result lacks. Each letter is a dim. Letters of size 1 in an operand,
/// larger elsewhere, are upper case there: broadcast.
struct Formula {
  std::vector<std::string> operands;
  std::string result;
  Algebra algebra = Algebra::kProduct;

  /// The term of one point.
  double value(const std::vector<double>& of) const {
    switch (algebra) {
      case Algebra::kSum: return std::accumulate(of.begin(), of.end(), 0.0);
      case Algebra::kChoice: return of[0] > 0 ? of[1] : of[2];
      default: return std::accumulate(of.begin(), of.end(), 1.0, std::multiplies<>());
    }
  }

  /// Its derivative by operand `by`, if others hold `of`.
  double derivative(std::vector<double> of, size_t by) const {
    switch (algebra) {
      case Algebra::kSum: return 1;
      case Algebra::kChoice: return by == (of[0] > 0 ? 1U : 2U) ? 1 : 0;
      default: of[by] = 1; return value(of);
    }
  }
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

std::vector<double> values_at(const Formula& formula,
                              const std::vector<Array*>& operands,
                              const std::map<char, int64_t>& point) {
  std::vector<double> values;
  for (size_t i = 0; i < operands.size(); ++i) {
    values.push_back(operands[i]->at(pick(point, formula.operands[i])));
  }
  return values;
}

void evaluate(const Formula& formula, std::vector<Array*> operands, Array& result) {
  for_each_point(formula, operands, result, [&](const std::map<char, int64_t>& point) {
    result.at(pick(point, formula.result)) += formula.value(values_at(formula, operands, point));
  });
}

void differentiate(const Formula& formula,
                   std::vector<Array*> operands,
                   Array& cotangent,
                   std::vector<Array>& gradients) {
  for_each_point(formula, operands, cotangent, [&](const std::map<char, int64_t>& point) {
    const double incoming = cotangent.at(pick(point, formula.result));
    const std::vector<double> of = values_at(formula, operands, point);
    for (size_t i = 0; i < operands.size(); ++i) {
      gradients[i].at(pick(point, formula.operands[i])) += incoming * formula.derivative(of, i);
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
  Array expected(whole_box(plan.result().global));
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

std::string_view name_of(Algebra algebra) {
  return algebra == Algebra::kSum ? "add" : algebra == Algebra::kChoice ? "where" : "mul";
}

TEST(PlanValues, OfElementwiseOpsEqualTheUnshardedOnes) {
  const std::vector<Formula> formulas = {{{"ij", "ij"}, "ij"},
                                         {{"ij", "j"}, "ij"},
                                         {{"Aj", "ij"}, "ij"},
                                         {{"ij", ""}, "ij"},
                                         {{"iA", "j"}, "ij"},
                                         {{"ij", "ij", "j"}, "ij"},
                                         {{"j", "ij", "ij"}, "ij"},
                                         {{"", "ij", "j"}, "ij"}};
  std::map<Algebra, size_t> planned;
  for (unsigned seed = 0; seed < 16000; ++seed) {
    std::mt19937 random(seed);
    const mesh::Mesh mesh = random_mesh(random);
    Formula formula = formulas[random() % formulas.size()];
    formula.algebra = random() % 2 == 0              ? Algebra::kProduct
                      : formula.operands.size() == 3 ? Algebra::kChoice
                                                     : Algebra::kSum;
    const bool choice = formula.algebra == Algebra::kChoice;
    std::vector<TensorType> types = random_types(random, mesh, formula, true);
    if (formula.algebra != Algebra::kProduct && random() % 3 == 0) {  // seldom drawn by chance
      for (TensorType& type : types) {
        type.spec = PartitionSpec().with_unreduced({"x"});
      }
    }
    if (choice) {
      types[0].dtype = DType::kBool;
      types[0].spec = types[0].spec.with_unreduced({});
    }
    const std::string_view op = name_of(formula.algebra);
    const Result<OpPlan> plan = plan_elementwise(mesh, op, types, formula.algebra);
    if (plan) {
      ++planned[formula.algebra];
      SCOPED_TRACE(concat(describe(seed, types, mesh), ' ', op));
      expect_same_values(random, mesh, formula, types, *plan);
      ASSERT_FALSE(HasFailure());
    }
  }
  for (const Algebra algebra : {Algebra::kSum, Algebra::kProduct, Algebra::kChoice}) {
    EXPECT_GT(planned[algebra], 500U) << name_of(algebra);
  }
}

TEST(PlanValues, OfSumsEqualTheUnshardedOnes) {
  size_t planned = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    const mesh::Mesh mesh = random_mesh(random);
    const Formula formula = {
        {"ij"}, std::vector<std::string>{"i", "j", ""}[random() % 3], Algebra::kSum};
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
  const Formula identity = {{"ijk"}, "ijk", Algebra::kSum};
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
