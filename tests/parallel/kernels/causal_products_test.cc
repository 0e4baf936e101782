// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/causal_products.h"

#include <limits>

#include "tests/parallel/kernels/kernel_checks.h"

namespace brigade::kernels {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// A tile with what its products take, in natural layouts with gaps.
struct Case {
  CausalTile tile;
  int64_t head_dim;
  int64_t stride;
  Floats x, y, scores;  // rows, keys; scores are 0 where hidden

  Case(const CausalTile& t, int64_t d)
      : tile(t),
        head_dim(d),
        stride(d + 7),
        x(random_floats(t.rows * stride, 1)),
        y(random_floats(t.keys * stride, 2)),
        scores(random_floats(t.rows * t.row_stride, 3)) {
    for (int64_t row = 0; row < t.rows; ++row) {
      for (int64_t key = t.first + row + 1; key < t.keys; ++key) {
        scores[to_size(row * t.row_stride + key)] = 0.0F;
      }
    }
  }

  double score(int64_t row, int64_t key) const {
    return wide(scores[to_size(row * tile.row_stride + key)]);
  }
  double at(const Floats& matrix, int64_t row, int64_t i) const {
    return wide(matrix[to_size(row * stride + i)]);
  }
  Floats packed(const Floats& matrix, int64_t rows) const {
    Floats result(to_size(rows * head_dim), kNan);
    pack_rows(rows, head_dim, matrix.data(), stride, result.data());
    return result;
  }

  void expect_products(const CausalProducts& products) const {
    expect_scores(products);
    expect_rows(products);
    expect_keys(products, false);
    expect_keys(products, true);
  }

  void expect_scores(const CausalProducts& products) const {
    Floats transposed(to_size(transposed_floats(tile.keys, head_dim)), kNan);
    pack_transposed(tile.keys, head_dim, y.data(), stride, transposed.data());
    Floats found(to_size(tile.rows * tile.row_stride), kNan);
    products.scores(tile, x.data(), stride, transposed.data(), found.data());
    for (int64_t row = 0; row < tile.rows; ++row) {
      for (int64_t key = 0; key <= tile.first + row; ++key) {
        double expected = 0;
        for (int64_t i = 0; i < head_dim; ++i) {
          expected += at(x, row, i) * at(y, key, i);
        }
        ASSERT_NEAR(found[to_size(row * tile.row_stride + key)], expected, 1e-4)
            << row << ' ' << key;
      }
    }
  }

  void expect_rows(const CausalProducts& products) const {
    Floats found(to_size(tile.rows * stride), kNan);
    const Floats right = packed(y, tile.keys);
    products.rows(tile, scores.data(), right.data(), found.data(), stride);
    for (int64_t row = 0; row < tile.rows; ++row) {
      for (int64_t i = 0; i < head_dim; ++i) {
        double expected = 0;
        for (int64_t key = 0; key < tile.keys; ++key) {
          expected += score(row, key) * at(y, key, i);
        }
        ASSERT_NEAR(found[to_size(row * stride + i)], expected, 1e-4) << row << ' ' << i;
      }
    }
  }

  void expect_keys(const CausalProducts& products, bool accumulate) const {
    Floats found(to_size(tile.keys * stride), accumulate ? 5.0F : kNan);
    const Floats right = packed(x, tile.rows);
    products.keys(tile, scores.data(), right.data(), found.data(), stride, accumulate);
    for (int64_t key = 0; key < tile.keys; ++key) {
      for (int64_t i = 0; i < head_dim; ++i) {
        double expected = accumulate ? 5.0 : 0.0;
        for (int64_t row = 0; row < tile.rows; ++row) {
          expected += score(row, key) * at(x, row, i);
        }
        ASSERT_NEAR(found[to_size(key * stride + i)], expected, 1e-4) << key << ' ' << i;
      }
    }
  }
};

std::vector<Case> cases() {
  std::vector<Case> made;
  for (const CausalTile& tile : {CausalTile{1, 1, 0, 1},
                                 {3, 3, 0, 5},
                                 {64, 64, 0, 80},
                                 {64, 128, 64, 144},
                                 {64, 256, 192, 272},
                                 {7, 71, 64, 87},
                                 {33, 97, 64, 113}}) {
    for (const int64_t head_dim : {1, 8, 17, 64, 80}) {
      made.emplace_back(tile, head_dim);
    }
  }
  return made;
}

TEST(CausalProducts, MatchTheirFormulasByStrips) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(testing::Message() << c.tile.rows << ' ' << c.tile.keys << ' ' << c.head_dim);
    c.expect_products(CausalProducts(c.head_dim, true));
  }
}

TEST(CausalProducts, MatchTheirFormulasByWholeTiles) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(testing::Message() << c.tile.rows << ' ' << c.tile.keys << ' ' << c.head_dim);
    c.expect_products(CausalProducts(c.head_dim, false));
  }
}

TEST(CausalProducts, ByStripsNeverReadWhatIsHidden) {
  Case c({8, 72, 64, 72}, 16);
  for (int64_t i = 0; i < c.head_dim; ++i) {
    c.y[to_size(71 * c.stride + i)] = kNan;  // the last key, which the last strip alone sees
  }
  Floats found(to_size(c.tile.rows * c.stride), 0.0F);
  const Floats right = c.packed(c.y, c.tile.keys);
  CausalProducts(c.head_dim, true)
      .rows(c.tile, c.scores.data(), right.data(), found.data(), c.stride);
  for (int64_t i = 0; i < c.head_dim; ++i) {
    EXPECT_FALSE(std::isnan(found[to_size(3 * c.stride + i)]));
    EXPECT_TRUE(std::isnan(found[to_size(7 * c.stride + i)]));
  }
}

}  // namespace
}  // namespace brigade::kernels
