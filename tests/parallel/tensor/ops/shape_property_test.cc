// SPDX-License-Identifier: Apache-2.0
// Random reshapes, transposes, slices and kin on real tensors over rank threads. Each is refused
// clearly, or equals the op on whole tensors, forward and backward.
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "parallel/tensor/ops/segment_sum.h"
#include "parallel/tensor/ops/shape.h"
#include "parallel/tensor/ops/take.h"
#include "tests/parallel/sharding/random_types.h"
#include "tests/parallel/sharding/spelled.h"
#include "tests/parallel/tensor/row_check.h"

namespace brigade::tensor {
namespace {

using sharding::PartitionSpec;
using sharding::Shape;
using sharding::TensorType;

using Tensors = std::vector<ShardedTensor>;
using Wholes = std::vector<at::Tensor>;

struct Case {
  std::string name;  ///< with its attributes
  std::vector<TensorType> types;
  int64_t below = 1;  ///< bound of integers
  std::optional<PartitionSpec> out;
  Op op;
  WholeOp whole_op;
};

class Draw {
 public:
  Draw(unsigned seed, const mesh::Mesh& mesh) : random_(seed), mesh_(mesh) {}

  std::mt19937& random() { return random_; }

  Case any() {
    switch (below(8)) {
      case 0:
      case 1: return reshape();
      case 2: return transpose();
      case 3: return slice();
      case 4: return broadcast();
      case 5: return pad();
      case 6: return take();
      default: return below(2) == 0 ? take_along() : segment_sum();
    }
  }

 private:
  int64_t below(int64_t bound) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(bound));
  }

  TensorType type(Shape shape, bool sums = true) {
    TensorType drawn{DType::kFloat32, std::move(shape), {}};
    drawn.spec = sharding::random_spec(random_, mesh_, drawn.global.size(), sums);
    return drawn;
  }

  Shape shape(size_t rank) {
    Shape drawn(rank);
    for (int64_t& size : drawn) {
      size = sharding::random_size(random_);
    }
    return drawn;
  }

  TensorType indices(Shape sizes, const PartitionSpec& like) {
    TensorType drawn{DType::kInt64, std::move(sizes), like};
    if (below(2) == 0) {
      drawn.spec =
          sharding::random_spec(random_, mesh_, drawn.global.size(), false).with_reduced({});
    }
    return drawn;
  }

  std::optional<PartitionSpec> maybe_out(size_t rank) {
    return below(3) == 0
               ? std::nullopt
               : std::optional<PartitionSpec>(sharding::random_spec(random_, mesh_, rank, true));
  }

  /// A number of elements in up to four dims.
  Shape factors(int64_t count) {
    Shape drawn;
    while (drawn.size() < 3 && below(4) != 0) {
      const int64_t size = std::vector<int64_t>{1, 2, 3, 4, 6}[static_cast<size_t>(below(5))];
      if (count % size == 0) {
        drawn.push_back(size);
        count /= size;
      }
    }
    drawn.push_back(count);
    return drawn;
  }

  Case reshape() {
    const int64_t count = std::vector<int64_t>{8, 12, 24, 48, 60, 0}[static_cast<size_t>(below(6))];
    const Shape to = factors(count);
    Case drawn{concat("reshape to (", join(to), ")"),
               {type(factors(count))},
               1,
               maybe_out(to.size()),
               {},
               {}};
    const auto out = drawn.out;
    drawn.op = [to, out](const Tensors& x) { return tensor::reshape(x[0], to, out); };
    drawn.whole_op = [to](const Wholes& x) { return x[0].reshape(to); };
    return drawn;
  }

  Case transpose() {
    std::vector<int64_t> order(static_cast<size_t>(below(4)));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    return {concat("transpose (", join(order), ")"),
            {type(shape(order.size()))},
            1,
            {},
            [order](const Tensors& x) { return tensor::transpose(x[0], order); },
            [order](const Wholes& x) { return x[0].permute(order); }};
  }

  /// Slices that are joined again, in another order.
  Case slice() {
    const TensorType whole = type(shape(2));
    const int64_t dim = below(2);
    const int64_t size = whole.global[static_cast<size_t>(dim)];
    const int64_t at = below(size + 1);
    return {concat("split at ", at, " and concatenate, dim ", dim),
            {whole},
            1,
            {},
            [=](const Tensors& x) {
              const Tensors parts = split(x[0], {at, size - at}, dim);
              return concatenate({parts[1], parts[0]}, dim);
            },
            [=](const Wholes& x) {
              return at::cat({x[0].narrow(dim, at, size - at), x[0].narrow(dim, 0, at)}, dim);
            }};
  }

  Case broadcast() {
    Shape from = shape(static_cast<size_t>(below(3)));
    Shape to = shape(static_cast<size_t>(below(2)));
    for (int64_t& size : from) {
      to.push_back(size);
      size = below(3) == 0 ? 1 : size;
    }
    Case drawn{
        concat("broadcast to (", join(to), ")"), {type(from)}, 1, maybe_out(to.size()), {}, {}};
    const auto out = drawn.out;
    drawn.op = [to, out](const Tensors& x) { return broadcast_to(x[0], to, out); };
    drawn.whole_op = [to](const Wholes& x) { return x[0].broadcast_to(to); };
    return drawn;
  }

  Case pad() {
    const int64_t dim = below(2);
    const sharding::Padding by{below(4), below(4), 0};
    const std::vector<int64_t> edges = dim == 0 ? std::vector<int64_t>{0, 0, by.low, by.high}
                                                : std::vector<int64_t>{by.low, by.high};
    return {concat("pad dim ", dim, " by ", by.low, ", ", by.high),
            {type(shape(2))},
            1,
            {},
            [=](const Tensors& x) { return tensor::pad(x[0], dim, by); },
            [=](const Wholes& x) { return at::constant_pad_nd(x[0], edges); }};
  }

  Case take() {
    const TensorType table = type({1 + below(6), 1 + below(6)}, false);
    const int64_t dim = below(2);
    const TensorType ids = indices(shape(static_cast<size_t>(below(3))), {});
    Case drawn{concat("take along dim ", dim),
               {table, ids},
               table.global[static_cast<size_t>(dim)],
               maybe_out(ids.global.size() + 1),
               {},
               {}};
    Shape sizes = table.global;
    sizes.erase(sizes.begin() + dim);
    sizes.insert(sizes.begin() + dim, ids.global.begin(), ids.global.end());
    const auto out = drawn.out;
    drawn.op = [dim, out](const Tensors& x) { return tensor::take(x[0], x[1], dim, out); };
    drawn.whole_op = [dim, sizes](const Wholes& x) {
      return x[0].index_select(dim, x[1].reshape({-1})).reshape(sizes);
    };
    return drawn;
  }

  Case take_along() {
    const TensorType table = type({1 + below(6), 1 + below(6)}, false);
    const int64_t dim = below(2);
    Shape sizes = table.global;
    sizes[static_cast<size_t>(dim)] = below(4);
    const PartitionSpec like = table.spec.with_dim(static_cast<size_t>(dim), {}).with_reduced({});
    Case drawn{concat("take_along dim ", dim),
               {table, indices(sizes, like)},
               table.global[static_cast<size_t>(dim)],
               maybe_out(2),
               {},
               {}};
    const auto out = drawn.out;
    drawn.op = [dim, out](const Tensors& x) { return tensor::take_along(x[0], x[1], dim, out); };
    drawn.whole_op = [dim](const Wholes& x) { return at::gather(x[0], dim, x[1]); };
    return drawn;
  }

  Case segment_sum() {
    const TensorType values = type(shape(2), false);
    const int64_t segments = 1 + below(6);
    const PartitionSpec like({values.spec.dim(0)});
    Case drawn{concat("segment_sum of ", segments),
               {values, indices({values.global[0]}, like)},
               segments,
               maybe_out(2),
               {},
               {}};
    const auto out = drawn.out;
    drawn.op = [segments, out](const Tensors& x) {
      return tensor::segment_sum(x[0], x[1], segments, out);
    };
    drawn.whole_op = [segments](const Wholes& x) {
      return at::zeros({segments, x[0].size(1)}).index_add(0, x[1], x[0]);
    };
    return drawn;
  }

  std::mt19937 random_;
  const mesh::Mesh& mesh_;
};

std::string describe(const Case& drawn, const mesh::Mesh& mesh, unsigned seed) {
  std::string text = concat("seed ", seed, " on ", mesh.to_string(), ": ", drawn.name);
  for (const TensorType& type : drawn.types) {
    text += concat(' ', type.to_string(mesh));
  }
  return concat(text, drawn.out ? concat(" out=", drawn.out->to_string()) : "", ": ");
}

std::string unclear(const Error& error, const Case& drawn, const mesh::Mesh& mesh) {
  for (const TensorType& type : drawn.types) {
    if (error.code == ErrorCode::kType &&
        error.text.find(type.to_string(mesh)) != std::string::npos) {
      return "";
    }
  }
  return concat("unclear error: ", error.text);
}

/// "" if the case is refused clearly or comes out right; counts the latter by op.
std::string run_case(Program& program, unsigned seed, std::map<std::string, int64_t>& planned) {
  const mesh::Mesh& mesh = program.mesh();
  Draw draw(seed, mesh);
  const Case drawn = draw.any();
  std::vector<at::Tensor> wholes;
  for (const TensorType& type : drawn.types) {
    wholes.push_back(whole_numbers(draw.random(), type, drawn.below));
  }
  std::string wrong;
  try {
    TensorType result;
    wrong = compare(program, draw.random(), drawn.types, wholes, drawn.op, drawn.whole_op, &result);
    if (drawn.out && result.spec != *drawn.out) {
      wrong += concat("result is ", result.to_string(mesh));
    }
    ++planned[drawn.name.substr(0, drawn.name.find(' '))];
  } catch (const Exception& exception) {
    wrong = unclear(exception.error(), drawn, mesh);
  }
  return wrong.empty() ? "" : describe(drawn, mesh, seed) + wrong;
}

class ShapeProperty : public ::testing::TestWithParam<const char*> {};

TEST_P(ShapeProperty, RandomCasesAreRefusedClearlyOrEqualTheWholeOp) {
  constexpr unsigned kCases = 600;
  on_mesh(sharding::mesh_of(GetParam()).axes(), [&](Program& program) {
    std::map<std::string, int64_t> planned;
    for (unsigned seed = 0; seed < kCases; ++seed) {
      // A rank that finds something wrong goes on: the others wait for it in the next case.
      const std::string wrong = run_case(program, seed, planned);
      EXPECT_TRUE(wrong.empty()) << wrong;
    }
    for (const char* op : {"reshape",
                           "transpose",
                           "split",
                           "broadcast",
                           "pad",
                           "take",
                           "take_along",
                           "segment_sum"}) {
      EXPECT_GT(planned[op], 5) << op;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Meshes,
                         ShapeProperty,
                         ::testing::Values("x2", "x3", "x2,y2", "x3,y2", "x2,y4"));

}  // namespace
}  // namespace brigade::tensor
