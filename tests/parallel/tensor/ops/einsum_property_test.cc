// SPDX-License-Identifier: Apache-2.0
// Random einsums on real tensors over rank threads: equations, sizes (uneven and empty too),
// meshes, specs and out. Each is refused clearly, or equals the product of whole tensors, forward
// and backward.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "parallel/tensor/ops/einsum.h"
#include "tests/parallel/sharding/random_types.h"
#include "tests/parallel/sharding/spelled.h"
#include "tests/parallel/tensor/row_check.h"

namespace brigade::tensor {
namespace {

using sharding::AxisState;
using sharding::PartitionSpec;
using sharding::TensorType;

struct Case {
  std::array<std::string, 2> letters;
  std::string result;
  std::vector<TensorType> types;
  std::optional<PartitionSpec> out;

  std::string equation() const { return concat(letters[0], ',', letters[1], "->", result); }
};

/// Which letters the operands and the result have.
Case draw_equation(std::mt19937& random) {
  Case drawn;
  for (const char letter : {'a', 'b', 'c', 'd', 'e'}) {
    // Free on the left, free on the right, batch, contracted, summed on one side, absent.
    constexpr int kParts[] = {0, 0, 1, 1, 2, 3, 3, 4, 5, 5};
    const int part = kParts[random() % std::size(kParts)];
    if (part == 0 || part == 2 || part == 3 || part == 4) {
      drawn.letters[0].push_back(letter);
    }
    if (part == 1 || part == 2 || part == 3) {
      drawn.letters[1].push_back(letter);
    }
    if (part < 3) {
      drawn.result.push_back(letter);
    }
  }
  for (std::string* letters : {&drawn.letters[0], &drawn.letters[1], &drawn.result}) {
    std::shuffle(letters->begin(), letters->end(), random);
  }
  if (random() % 2 == 0) {
    std::swap(drawn.letters[0], drawn.letters[1]);
  }
  return drawn;
}

/// The left operand's splits of letters that the right one has too: chance alone seldom draws
/// operands that fit.
PartitionSpec shared_splits(const Case& drawn) {
  PartitionSpec spec;
  for (size_t dim = 0; dim < drawn.letters[1].size(); ++dim) {
    const size_t left = drawn.letters[0].find(drawn.letters[1][dim]);
    if (left != std::string::npos) {
      spec = spec.with_dim(dim, drawn.types[0].spec.dim(left));
    }
  }
  return spec;
}

Case draw_case(std::mt19937& random, const mesh::Mesh& mesh) {
  Case drawn = draw_equation(random);
  std::map<char, int64_t> sizes;
  for (const std::string& letters : drawn.letters) {
    TensorType type;
    for (const char letter : letters) {
      type.global.push_back(sizes.emplace(letter, sharding::random_size(random)).first->second);
    }
    const bool like_left = !drawn.types.empty() && random() % 3 != 0;
    type.spec = with_random_axes(
        random, like_left ? shared_splits(drawn) : PartitionSpec(), mesh, letters.size(), false);
    drawn.types.push_back(std::move(type));
  }
  if (random() % 3 != 0) {
    drawn.out = sharding::random_spec(random, mesh, drawn.result.size(), true);
  }
  return drawn;
}

std::string describe(const Case& drawn, const mesh::Mesh& mesh, unsigned seed) {
  return concat("seed ",
                seed,
                " on ",
                mesh.to_string(),
                ": ",
                drawn.equation(),
                ' ',
                drawn.types[0].to_string(mesh),
                ' ',
                drawn.types[1].to_string(mesh),
                drawn.out ? concat(" out=", drawn.out->to_string()) : "",
                ": ");
}

/// What is wrong with an error: it should be of types, and name an operand as it is.
std::string unclear(const Error& error, const Case& drawn, const mesh::Mesh& mesh) {
  for (const TensorType& type : drawn.types) {
    if (error.code == ErrorCode::kType &&
        error.text.find(type.to_string(mesh)) != std::string::npos) {
      return "";
    }
  }
  return concat("unclear error: ", error.text);
}

/// "" if the case is refused clearly or comes out right; counts the latter.
std::string run_case(Program& program, unsigned seed, int64_t& planned) {
  std::mt19937 random(seed);
  const mesh::Mesh& mesh = program.mesh();
  const Case drawn = draw_case(random, mesh);
  std::vector<at::Tensor> wholes;
  for (const TensorType& type : drawn.types) {
    wholes.push_back(whole_numbers(random, type, 0));
  }
  const Op op = [&](const std::vector<ShardedTensor>& operands) {
    return einsum(drawn.equation(), operands[0], operands[1], drawn.out);
  };
  const WholeOp whole_op = [&](const std::vector<at::Tensor>& operands) {
    return at::einsum(drawn.equation(), {operands[0], operands[1]});
  };
  std::string wrong;
  try {
    TensorType result;
    wrong = compare(program, random, drawn.types, wholes, op, whole_op, &result);
    if (drawn.out && result.spec != *drawn.out) {
      wrong += concat("result is ", result.to_string(mesh));
    }
    ++planned;
  } catch (const Exception& exception) {
    wrong = unclear(exception.error(), drawn, mesh);
  }
  return wrong.empty() ? "" : describe(drawn, mesh, seed) + wrong;
}

class EinsumProperty : public ::testing::TestWithParam<const char*> {};

TEST_P(EinsumProperty, RandomCasesAreRefusedClearlyOrEqualTheWholeProduct) {
  constexpr unsigned kCases = 1000;
  on_mesh(sharding::mesh_of(GetParam()).axes(), [&](Program& program) {
    int64_t planned = 0;
    for (unsigned seed = 0; seed < kCases; ++seed) {
      // A rank that finds something wrong goes on: the others wait for it in the next case.
      const std::string wrong = run_case(program, seed, planned);
      EXPECT_TRUE(wrong.empty()) << wrong;
    }
    EXPECT_GT(planned, kCases / 5);
  });
}

// 9 meshes of 1,000 cases.
INSTANTIATE_TEST_SUITE_P(
    Meshes,
    EinsumProperty,
    ::testing::Values("x2", "x3", "x4", "x8", "x2,y2", "x2,y1", "x2,y4", "x3,y2", "x2,y2,z2"));

}  // namespace
}  // namespace brigade::tensor
