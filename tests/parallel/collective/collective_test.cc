// SPDX-License-Identifier: Apache-2.0
// Every operation against a serial reference, over every engine.
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "parallel/base/bf16.h"
#include "parallel/base/binary_tree.h"
#include "parallel/collective/buffer_plan.h"
#include "parallel/collective/world.h"
#include "tests/parallel/collective/engines.h"

namespace brigade::collective {
namespace {

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>) {
    return DType::kFloat32;
  } else if constexpr (std::is_same_v<T, double>) {
    return DType::kFloat64;
  } else if constexpr (std::is_same_v<T, uint16_t>) {
    return DType::kBFloat16;
  } else {
    return DType::kInt64;
  }
}

template <class T>
T term_value(int64_t rank, int64_t i) {
  std::minstd_rand random(static_cast<uint32_t>(rank * 7919 + i * 104729 + 1));
  const float value = static_cast<float>(random() % 20001) / 1000.0F - 10.0F;
  if constexpr (std::is_same_v<T, uint16_t>) {
    return float_to_bf16(value);
  } else {
    return static_cast<T>(value);
  }
}

template <class T>
std::vector<T> terms_of(int64_t rank, int64_t count, int64_t from = 0) {
  std::vector<T> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    values[static_cast<size_t>(i)] = term_value<T>(rank, from + i);
  }
  return values;
}

template <class W>
W join(ReduceOp op, W a, W b) {
  return op == ReduceOp::kSum ? a + b : op == ReduceOp::kMax ? std::max(a, b) : std::min(a, b);
}

/// Element i of the reduction over `ranks`, along the tree.
template <class T>
T reduced(int64_t ranks, int64_t i, ReduceOp op) {
  if constexpr (std::is_same_v<T, uint16_t>) {
    return float_to_bf16(tree_sum(
        0,
        ranks,
        [&](int64_t rank) { return bf16_to_float(term_value<T>(rank, i)); },
        [&](float a, float b) { return join(op, a, b); }));
  } else {
    return tree_sum(
        0,
        ranks,
        [&](int64_t rank) { return term_value<T>(rank, i); },
        [&](T a, T b) { return join(op, a, b); });
  }
}

template <class T>
std::vector<T> reduction_of(int64_t ranks, int64_t count, ReduceOp op, int64_t from = 0) {
  std::vector<T> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    values[static_cast<size_t>(i)] = reduced<T>(ranks, from + i, op);
  }
  return values;
}

std::vector<int64_t> lengths_for(int64_t ranks) {
  return {0, 1, ranks - 1, ranks, ranks + 1, 1000, 65537};
}

template <class T>
Span bytes_in(std::vector<T>& values) {
  return std::as_writable_bytes(std::span<T>(values));
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// Cuts `values` into a few uneven pieces, one of them empty.
template <class T>
Spans in_pieces(std::vector<T>& values) {
  std::span<T> all(values);
  const size_t third = all.size() / 3;
  return {bytes_of(all.subspan(0, third)),
          bytes_of(all.subspan(third, 0)),
          bytes_of(all.subspan(third, third / 2)),
          bytes_of(all.subspan(third + third / 2))};
}

/// How many elements rank d owns: uneven, and none for some.
int64_t share_of(int64_t d, int64_t length) {
  return d % 3 == 1 ? 0 : length / (d + 1) + d;
}

class Collectives : public ::testing::TestWithParam<testing::EngineCase> {
 protected:
  void run(const std::function<void(World&, Communicator&)>& function) {
    testing::run_engine(GetParam(), [&](World& world) {
      auto group = world.everyone("all");
      function(world, *group);
    });
  }
  int64_t ranks() const { return GetParam().ranks; }
};

template <class T>
void check_all_reduce(Communicator& group, ReduceOp op) {
  for (const int64_t length : lengths_for(group.size())) {
    std::vector<T> values = terms_of<T>(group.rank(), length);
    ASSERT_TRUE(group.all_reduce(in_pieces(values), dtype_of<T>(), op).wait());
    ASSERT_TRUE(same_bits(values, reduction_of<T>(group.size(), length, op))) << length;
  }
}

TEST_P(Collectives, AllReduceEqualsTheTreeBitForBitInEveryType) {
  run([](World&, Communicator& group) {
    check_all_reduce<float>(group, ReduceOp::kSum);
    check_all_reduce<double>(group, ReduceOp::kSum);
    check_all_reduce<uint16_t>(group, ReduceOp::kSum);
    check_all_reduce<int64_t>(group, ReduceOp::kSum);
  });
}

TEST_P(Collectives, AllReduceTakesMaximaAndMinima) {
  run([](World&, Communicator& group) {
    check_all_reduce<float>(group, ReduceOp::kMax);
    check_all_reduce<uint16_t>(group, ReduceOp::kMin);
    check_all_reduce<int64_t>(group, ReduceOp::kMax);
    check_all_reduce<double>(group, ReduceOp::kMin);
  });
}

TEST_P(Collectives, AllReduceSumsStayNearTheDoubleSum) {
  run([](World&, Communicator& group) {
    std::vector<float> values = terms_of<float>(group.rank(), 1000);
    ASSERT_TRUE(group.all_reduce({bytes_in(values)}, DType::kFloat32, ReduceOp::kSum).wait());
    for (int64_t i = 0; i < 1000; ++i) {
      double sum = 0;
      double size = 0;
      for (int64_t rank = 0; rank < group.size(); ++rank) {
        sum += static_cast<double>(term_value<float>(rank, i));
        size += std::abs(static_cast<double>(term_value<float>(rank, i)));
      }
      ASSERT_NEAR(static_cast<double>(values[static_cast<size_t>(i)]), sum, 1e-6 * size);
    }
  });
}

template <class T>
void check_reduce_scatter(Communicator& group, ReduceOp op, bool in_place) {
  const int p = group.size();
  for (const int64_t length : lengths_for(p)) {
    std::vector<std::vector<T>> terms;
    std::vector<ConstSpans> spans;
    int64_t begin = 0;
    int64_t own_begin = 0;
    for (int d = 0; d < p; ++d) {
      own_begin = d == group.rank() ? begin : own_begin;
      terms.push_back(terms_of<T>(group.rank(), share_of(d, length), begin));
      begin += share_of(d, length);
    }
    for (std::vector<T>& term : terms) {
      const Spans pieces = in_pieces(term);
      spans.emplace_back(pieces.begin(), pieces.end());
    }
    std::vector<T>& own = terms[static_cast<size_t>(group.rank())];
    std::vector<T> elsewhere(own.size());
    std::vector<T>& result = in_place ? own : elsewhere;
    ASSERT_TRUE(group.reduce_scatter(spans, in_pieces(result), dtype_of<T>(), op).wait());
    ASSERT_TRUE(
        same_bits(result, reduction_of<T>(p, static_cast<int64_t>(own.size()), op, own_begin)))
        << length;
  }
}

TEST_P(Collectives, ReduceScatterGivesEveryMemberItsUnevenShare) {
  run([](World&, Communicator& group) {
    check_reduce_scatter<float>(group, ReduceOp::kSum, false);
    check_reduce_scatter<float>(group, ReduceOp::kSum, true);
    check_reduce_scatter<uint16_t>(group, ReduceOp::kSum, true);
    check_reduce_scatter<int64_t>(group, ReduceOp::kMin, false);
    check_reduce_scatter<double>(group, ReduceOp::kMax, true);
  });
}

TEST_P(Collectives, AllGatherPutsUnevenPartsInPlace) {
  run([](World&, Communicator& group) {
    for (const int64_t length : lengths_for(group.size())) {
      std::vector<std::vector<float>> parts;
      for (int d = 0; d < group.size(); ++d) {
        parts.emplace_back(static_cast<size_t>(share_of(d, length)));
      }
      std::vector<float> mine = terms_of<float>(group.rank(), share_of(group.rank(), length));
      std::vector<Spans> spans;
      for (std::vector<float>& part : parts) {
        spans.push_back(in_pieces(part));
      }
      ASSERT_TRUE(group.all_gather({bytes_in(mine)}, spans).wait());
      for (int d = 0; d < group.size(); ++d) {
        ASSERT_TRUE(
            same_bits(parts[static_cast<size_t>(d)], terms_of<float>(d, share_of(d, length))))
            << d << ' ' << length;
      }
    }
  });
}

TEST_P(Collectives, BroadcastCopiesFromEveryRoot) {
  run([](World&, Communicator& group) {
    for (const int64_t length : lengths_for(group.size())) {
      for (int root = 0; root < group.size(); ++root) {
        std::vector<double> values = terms_of<double>(group.rank(), length);
        ASSERT_TRUE(group.broadcast(in_pieces(values), root).wait());
        ASSERT_TRUE(same_bits(values, terms_of<double>(root, length))) << root << ' ' << length;
      }
    }
  });
}

TEST_P(Collectives, AllToAllExchangesBlocksOfPairs) {
  run([](World&, Communicator& group) {
    const int p = group.size();
    for (const int64_t length : lengths_for(p)) {
      std::vector<std::vector<float>> to;
      std::vector<std::vector<float>> from;
      std::vector<ConstSpans> to_spans;
      std::vector<Spans> from_spans;
      for (int d = 0; d < p; ++d) {  // rank r sends length / (r + 1) + d elements to d
        to.push_back(terms_of<float>(group.rank(), length / (group.rank() + 1) + d, d));
        from.emplace_back(static_cast<size_t>(length / (d + 1) + group.rank()));
      }
      for (int d = 0; d < p; ++d) {
        to_spans.push_back({bytes_in(to[static_cast<size_t>(d)])});
        from_spans.push_back(in_pieces(from[static_cast<size_t>(d)]));
      }
      ASSERT_TRUE(group.all_to_all(to_spans, from_spans).wait());
      for (int d = 0; d < p; ++d) {
        const std::vector<float>& block = from[static_cast<size_t>(d)];
        ASSERT_TRUE(
            same_bits(block, terms_of<float>(d, static_cast<int64_t>(block.size()), group.rank())));
      }
    }
  });
}

TEST_P(Collectives, MessagesMatchByTagAndInPostingOrder) {
  run([](World&, Communicator& group) {
    const int p = group.size();
    if (p == 1) {
      return;
    }
    const int next = (group.rank() + 1) % p;
    const int previous = (group.rank() + p - 1) % p;
    for (const int64_t length : {int64_t{0}, int64_t{1}, int64_t{1000}, int64_t{165537}}) {
      std::vector<float> first = terms_of<float>(group.rank(), length);
      std::vector<float> second = terms_of<float>(group.rank() + 10, length);
      std::vector<float> other = terms_of<float>(group.rank() + 20, length);
      ASSERT_TRUE(group.send({bytes_in(first)}, next, 7).wait());
      ASSERT_TRUE(group.send({bytes_in(second)}, next, 7).wait());
      Work late = group.send({bytes_in(other)}, next, 8);
      std::vector<float> a(first.size());
      std::vector<float> b(first.size());
      std::vector<float> c(first.size());
      ASSERT_TRUE(group.receive(in_pieces(c), previous, 8).wait());
      ASSERT_TRUE(group.receive(in_pieces(a), previous, 7).wait());
      ASSERT_TRUE(group.receive(in_pieces(b), previous, 7).wait());
      ASSERT_TRUE(late.wait());
      ASSERT_TRUE(same_bits(a, terms_of<float>(previous, length)));
      ASSERT_TRUE(same_bits(b, terms_of<float>(previous + 10, length)));
      ASSERT_TRUE(same_bits(c, terms_of<float>(previous + 20, length)));
    }
  });
}

TEST_P(Collectives, NobodyLeavesABarrierBeforeAllHaveEntered) {
  std::atomic<int64_t> entered = 0;
  const int64_t p = ranks();
  run([&](World&, Communicator& group) {
    for (int64_t round = 1; round <= 5; ++round) {
      entered.fetch_add(1);
      ASSERT_TRUE(group.barrier().wait());
      ASSERT_GE(entered.load(), round * p);
      ASSERT_TRUE(group.barrier().wait());
    }
  });
}

TEST_P(Collectives, ManyOperationsInFlightMayBeAwaitedInAnyOrder) {
  run([](World& world, Communicator& group) {
    auto second = world.group(group.members(), "second");
    constexpr size_t kCount = 12;
    std::vector<std::vector<float>> buffers;
    std::vector<Work> works;
    for (size_t i = 0; i < kCount; ++i) {
      buffers.push_back(terms_of<float>(group.rank(), static_cast<int64_t>(i * i * 700)));
    }
    for (size_t i = 0; i < kCount; ++i) {
      Communicator& used = i % 2 == 0 ? group : *second;
      works.push_back(used.all_reduce({bytes_in(buffers[i])}, DType::kFloat32, ReduceOp::kSum));
    }
    for (size_t i = 0; i < kCount; ++i) {  // another order on every rank
      const size_t at = (i * 5 + static_cast<size_t>(group.rank())) % kCount;
      ASSERT_TRUE(works[at].wait());
      ASSERT_TRUE(works[at].done());
      ASSERT_TRUE(same_bits(
          buffers[at],
          reduction_of<float>(group.size(), static_cast<int64_t>(at * at * 700), ReduceOp::kSum)));
    }
  });
}

TEST_P(Collectives, ALongReductionTakesMoreThanOneWindow) {
  run([](World& world, Communicator& group) {
    const int64_t length = 1'500'001;  // 5.7 MiB: several windows even for 3 ranks' slices
    std::vector<float> values = terms_of<float>(group.rank(), length);
    ASSERT_TRUE(group.all_reduce({bytes_in(values)}, DType::kFloat32, ReduceOp::kSum).wait());
    ASSERT_TRUE(same_bits(values, reduction_of<float>(group.size(), length, ReduceOp::kSum)));
    // Blocks are kept for the next operation.
    const int64_t others = group.size() - 1;
    const int64_t blocks = reduction_buffers(4 * length / group.size(), group.size());
    const transport::BufferBytes held = world.buffer_bytes();
    EXPECT_GE(held.live, blocks);
    EXPECT_LE(held.live, held.peak);
    // Beside blocks: what connections read into, and copies of slices whose sender went on.
    EXPECT_LE(held.peak, blocks + others * (kConnectionBuffers + 4 * length));
  });
}

TEST_P(Collectives, BytesSentFollowTheFormulas) {
  run([](World&, Communicator& group) {
    const int64_t p = group.size();
    std::vector<float> values = terms_of<float>(group.rank(), 24000 * p);
    const int64_t bytes = 96000 * p;
    ASSERT_TRUE(group.all_reduce({bytes_in(values)}, DType::kFloat32, ReduceOp::kSum).wait());
    EXPECT_EQ(group.bytes_sent(), 2 * bytes * (p - 1) / p);
    std::vector<Spans> parts;
    for (int64_t d = 0; d < p; ++d) {
      parts.push_back({bytes_in(values).subspan(static_cast<size_t>(d) * 96000, 96000)});
    }
    const Spans mine = parts[static_cast<size_t>(group.rank())];
    ASSERT_TRUE(group.all_gather({mine[0]}, parts).wait());
    EXPECT_EQ(group.bytes_sent(), 3 * bytes * (p - 1) / p);
  });
}

INSTANTIATE_TEST_SUITE_P(Engines,
                         Collectives,
                         ::testing::ValuesIn(testing::engine_cases({1, 2, 3, 4, 5, 6, 7, 8})),
                         testing::engine_name);

}  // namespace
}  // namespace brigade::collective
