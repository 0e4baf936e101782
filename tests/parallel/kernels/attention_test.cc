// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/attention.h"

#include <limits>

#include "parallel/base/check.h"
#include "tests/parallel/kernels/kernel_checks.h"

namespace brigade::kernels {
namespace {

using Doubles = std::vector<double>;

struct Result {
  Floats o, dq, dk, dv;
};

struct Reference {
  Doubles o, dq, dk, dv;
};

struct Case {
  AttentionShape shape;
  Floats q, k, v, d_out;

  explicit Case(const AttentionShape& s)
      : shape(s),
        q(random_floats(s.batch * s.sequence * s.query_heads * s.head_dim, 1)),
        k(random_floats(s.batch * s.sequence * s.key_value_heads * s.head_dim, 2)),
        v(random_floats(s.batch * s.sequence * s.key_value_heads * s.head_dim, 3)),
        d_out(random_floats(s.batch * s.sequence * s.query_heads * s.head_dim, 4)) {}

  /// Runs both ways, unit ranges cut at `cut`.
  Result run(int64_t cut) const {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    Result result = {
        Floats(q.size(), nan), Floats(q.size(), nan), Floats(k.size(), nan), Floats(k.size(), nan)};
    Floats p(to_size(attention_probabilities(shape)), nan);
    Floats scratch(to_size(attention_scratch(shape)), nan);
    for (const auto& [begin, end] : {std::pair{int64_t{0}, cut}, {cut, shape.units()}}) {
      attention_forward(shape,
                        q.data(),
                        k.data(),
                        v.data(),
                        result.o.data(),
                        p.data(),
                        scratch.data(),
                        begin,
                        end);
      attention_backward(shape,
                         q.data(),
                         k.data(),
                         v.data(),
                         p.data(),
                         d_out.data(),
                         result.dq.data(),
                         result.dk.data(),
                         result.dv.data(),
                         scratch.data(),
                         begin,
                         end);
    }
    return result;
  }
};

/// One query row against the keys it sees, straight from the definition.
void add_row(const Case& c, int64_t batch, int64_t head, int64_t row, Reference& r) {
  const AttentionShape& s = c.shape;
  const int64_t kv_head = head / (s.query_heads / s.key_value_heads);
  const auto query_at = [&](int64_t i) {
    return to_size(((batch * s.sequence + row) * s.query_heads + head) * s.head_dim + i);
  };
  const auto key_at = [&](int64_t key, int64_t i) {
    return to_size(((batch * s.sequence + key) * s.key_value_heads + kv_head) * s.head_dim + i);
  };
  const double scale = 1.0 / std::sqrt(static_cast<double>(s.head_dim));
  Doubles p(to_size(row + 1)), dp(p.size());
  double sum = 0, dot = 0;
  for (int64_t key = 0; key <= row; ++key) {
    double score = 0;
    for (int64_t i = 0; i < s.head_dim; ++i) {
      score += wide(c.q[query_at(i)]) * wide(c.k[key_at(key, i)]);
    }
    p[to_size(key)] = std::exp(score * scale);
    sum += p[to_size(key)];
  }
  for (int64_t key = 0; key <= row; ++key) {
    p[to_size(key)] /= sum;
    for (int64_t i = 0; i < s.head_dim; ++i) {
      const double d = c.d_out[query_at(i)];
      r.o[query_at(i)] += p[to_size(key)] * wide(c.v[key_at(key, i)]);
      r.dv[key_at(key, i)] += p[to_size(key)] * d;
      dp[to_size(key)] += d * wide(c.v[key_at(key, i)]);
    }
    dot += p[to_size(key)] * dp[to_size(key)];
  }
  for (int64_t key = 0; key <= row; ++key) {
    const double ds = p[to_size(key)] * (dp[to_size(key)] - dot) * scale;
    for (int64_t i = 0; i < s.head_dim; ++i) {
      r.dq[query_at(i)] += ds * wide(c.k[key_at(key, i)]);
      r.dk[key_at(key, i)] += ds * wide(c.q[query_at(i)]);
    }
  }
}

Reference reference(const Case& c) {
  Reference r = {
      Doubles(c.q.size()), Doubles(c.q.size()), Doubles(c.k.size()), Doubles(c.k.size())};
  for (int64_t batch = 0; batch < c.shape.batch; ++batch) {
    for (int64_t head = 0; head < c.shape.query_heads; ++head) {
      for (int64_t row = 0; row < c.shape.sequence; ++row) {
        add_row(c, batch, head, row, r);
      }
    }
  }
  return r;
}

void expect_near(const Floats& actual, const Doubles& expected, double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    ASSERT_NEAR(actual[i], expected[i], tolerance * (1 + std::abs(expected[i]))) << i;
  }
}

TEST(Attention, MatchesItsDefinitionForwardAndBackward) {
  for (const AttentionShape& shape : {AttentionShape{1, 1, 1, 1, 1},
                                      {2, 3, 2, 2, 15},
                                      {1, 33, 4, 2, 17},
                                      {2, 100, 6, 1, 16},
                                      {1, 64, 2, 2, 64},
                                      {1, 65, 3, 3, 8},
                                      {1, 200, 4, 2, 32},
                                      {2, 1, 4, 4, 64}}) {
    SCOPED_TRACE(testing::Message() << shape.sequence << ' ' << shape.query_heads);
    const Case c(shape);
    const Result result = c.run(0);
    const Reference expected = reference(c);
    expect_near(result.o, expected.o, 2e-6);
    expect_near(result.dq, expected.dq, 5e-6);
    expect_near(result.dk, expected.dk, 5e-6);
    expect_near(result.dv, expected.dv, 5e-6);
  }
}

TEST(Attention, KeepsItsBitsWhenUnitsAreCut) {
  const Case c({3, 70, 4, 2, 16});
  const Result whole = c.run(0);
  for (const int64_t cut : {1, 3, 5}) {
    const Result parts = c.run(cut);
    EXPECT_TRUE(same_bits(parts.o, whole.o));
    EXPECT_TRUE(same_bits(parts.dq, whole.dq));
    EXPECT_TRUE(same_bits(parts.dk, whole.dk));
    EXPECT_TRUE(same_bits(parts.dv, whole.dv));
  }
}

TEST(Attention, SeesNothingOfLaterTokens) {
  Case c({1, 130, 2, 1, 16});
  const Result before = c.run(0);
  for (size_t i = to_size(100 * 16); i < c.k.size(); ++i) {
    c.k[i] = 1e6F;
    c.v[i] = std::numeric_limits<float>::max();
  }
  const Result after = c.run(0);
  for (size_t i = 0; i < to_size(100 * 2 * 16); ++i) {
    ASSERT_EQ(after.o[i], before.o[i]) << i;
  }
}

TEST(Attention, AcceptsAnEmptyBatchOrSequence) {
  for (const AttentionShape& shape : {AttentionShape{0, 5, 2, 1, 4}, {2, 0, 2, 1, 4}}) {
    EXPECT_EQ(attention_probabilities(shape), 0);
    EXPECT_TRUE(Case(shape).run(0).o.empty());
  }
}

TEST(Attention, RefusesHeadsThatDoNotDivide) {
  EXPECT_THROW(attention_forward<float>(
                   {1, 1, 3, 2, 4}, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 0, 0),
               CheckFailure);
}

TEST(Attention, InBf16IsTheFloatKernelRoundedOnce) {
  for (const AttentionShape& shape :
       {AttentionShape{2, 130, 4, 2, 32}, AttentionShape{1, 64, 1, 1, 17}}) {
    Case c(shape);
    const Halves q = narrowed(c.q), k = narrowed(c.k), v = narrowed(c.v), d_out = narrowed(c.d_out);
    c.q = widened(q), c.k = widened(k), c.v = widened(v), c.d_out = widened(d_out);
    const Result wanted = c.run(1);
    Halves o(q.size()), dq(q.size()), dk(k.size()), dv(k.size());
    Floats p(to_size(attention_probabilities(shape)));
    Floats scratch(to_size(attention_scratch(shape)), std::numeric_limits<float>::quiet_NaN());
    attention_forward(
        shape, q.data(), k.data(), v.data(), o.data(), p.data(), scratch.data(), 0, shape.units());
    attention_backward(shape,
                       q.data(),
                       k.data(),
                       v.data(),
                       p.data(),
                       d_out.data(),
                       dq.data(),
                       dk.data(),
                       dv.data(),
                       scratch.data(),
                       0,
                       shape.units());
    EXPECT_EQ(o, narrowed(wanted.o));
    EXPECT_EQ(dq, narrowed(wanted.dq));
    EXPECT_EQ(dk, narrowed(wanted.dk));
    EXPECT_EQ(dv, narrowed(wanted.dv));
  }
}

}  // namespace
}  // namespace brigade::kernels
