// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/local_einsum.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "parallel/base/check.h"
#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

/// Sizes by letter, none equal to another.
int64_t size_of_index(char index) {
  return 2 + (index - 'a');
}

at::Tensor operand(std::string_view indices, double phase) {
  std::vector<int64_t> sizes;
  for (const char index : indices) {
    sizes.push_back(size_of_index(index));
  }
  return numbers(sizes, phase);
}

void expect_as_libtorch(std::string_view equation, const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor wanted =
      at::einsum(equation, {a.to(at::kDouble), b.to(at::kDouble)}).to(at::kFloat);
  for (const MatmulBackend backend : {MatmulBackend::kLibtorch, MatmulBackend::kOneDnn}) {
    const at::Tensor found = EinsumRecipe(split_equation(equation))({backend, backend}, a, b);
    EXPECT_EQ(found.sizes(), wanted.sizes()) << equation;
    EXPECT_TRUE(found.is_contiguous()) << equation;
    EXPECT_TRUE(at::allclose(found, wanted, 1e-5, 1e-5)) << equation << to_string(backend);
  }
}

TEST(LocalEinsum, MultipliesAsLibtorchDoes) {
  for (const char* equation :
       {"ab,bc->ac",   "ab,cb->ac",    "ab,cb->ca",       "ab,ac->bc",      "abc,dc->abd",
        "abc,abd->cd", "abc,acd->abd", "abcd,abed->abce", "abcd,aecb->ade", "a,b->ab",
        "ab,ab->",     "ab,b->a",      "ab,a->ba",        "abc,cba->bac",   "abc,c->ab",
        "c,abc->ab",   "ab,ac->cb",    "abc,abd->dc",     "abc,ad->acdb",   "abcd,abef->abefcd"}) {
    const Equation parts = split_equation(equation);
    expect_as_libtorch(equation, operand(parts.a, 0.1), operand(parts.b, 0.7));
  }
}

TEST(LocalEinsum, TakesViews) {
  const at::Tensor a = numbers({7, 6, 5}, 0.2).permute({2, 0, 1});
  const at::Tensor b = numbers({4, 12}, 0.4).slice(1, 0, 12, 2);
  expect_as_libtorch("abc,dc->abd", a, b);
}

TEST(LocalEinsum, GivesZerosOverAnEmptyContraction) {
  const at::Tensor product =
      EinsumRecipe(split_equation("ab,cb->ac"))({}, at::empty({2, 0}), at::empty({3, 0}));
  EXPECT_TRUE(at::equal(product, at::zeros({2, 3})));
}

TEST(LocalEinsum, SplitsAnEquation) {
  const Equation parts = split_equation("bsd,hd->bsh");
  EXPECT_EQ(parts.a, "bsd");
  EXPECT_EQ(parts.b, "hd");
  EXPECT_EQ(parts.out, "bsh");
  EXPECT_THROW(split_equation("ab->ba"), CheckFailure);
  EXPECT_THROW(split_equation("ab,bc"), CheckFailure);
}

TEST(LocalEinsum, RefusesASumOverOneOperandAlone) {
  EXPECT_THROW(EinsumRecipe(split_equation("ab,c->ac")), CheckFailure);
}

TEST(LocalEinsum, InternsAnEquationWithItsGradients) {
  const EinsumRecipes& recipes = einsum_recipes("bsd,hd->bsh");
  EXPECT_EQ(&einsum_recipes(std::string("bsd,hd->bsh")), &recipes);
  EXPECT_NE(&einsum_recipes("bsd,dh->bsh"), &recipes);
  const at::Tensor x = numbers({2, 3, 4}, 0.1);
  const at::Tensor w = numbers({5, 4}, 0.2);
  const at::Tensor dy = numbers({2, 3, 5}, 0.3);
  EXPECT_TRUE(
      at::allclose(recipes.forward({}, x, w), at::einsum("bsd,hd->bsh", {x, w}), 1e-5, 1e-5));
  EXPECT_TRUE(
      at::allclose(recipes.gradient_a({}, dy, w), at::einsum("bsh,hd->bsd", {dy, w}), 1e-5, 1e-5));
  EXPECT_TRUE(
      at::allclose(recipes.gradient_b({}, dy, x), at::einsum("bsh,bsd->hd", {dy, x}), 1e-5, 1e-5));
}

}  // namespace
}  // namespace brigade::tensor
