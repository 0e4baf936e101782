// SPDX-License-Identifier: Apache-2.0
// Field reports R129 and R130: every reducing operation with every way to reduce, element type and
// small world; and many spans in one operation against one operation for each.
//
// There is no average (law 3), no product and no reduction to one root, so those cells of the
// reports have no test.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "parallel/base/bf16.h"
#include "parallel/collective/world.h"
#include "tests/parallel/collective/engines.h"

namespace brigade::collective {
namespace {

constexpr int64_t kElements = 6;  // no world of the table has as many ranks

/// Small whole numbers, so that every type holds every sum exactly.
int64_t number(int64_t rank, int64_t i) {
  return (rank + 2) * (i % 2 == 0 ? 3 : -2) + i;
}

int64_t reduced(ReduceOp op, int64_t ranks, int64_t i) {
  int64_t result = number(0, i);
  for (int64_t rank = 1; rank < ranks; ++rank) {
    const int64_t next = number(rank, i);
    result = op == ReduceOp::kSum   ? result + next
             : op == ReduceOp::kMax ? std::max(result, next)
                                    : std::min(result, next);
  }
  return result;
}

struct Float32 {
  using Stored = float;
  static constexpr DType kDType = DType::kFloat32;
  static Stored store(int64_t value) { return static_cast<float>(value); }
};
struct BFloat16 {
  using Stored = uint16_t;
  static constexpr DType kDType = DType::kBFloat16;
  static Stored store(int64_t value) { return float_to_bf16(static_cast<float>(value)); }
};
struct Int64 {
  using Stored = int64_t;
  static constexpr DType kDType = DType::kInt64;
  static Stored store(int64_t value) { return value; }
};

template <class Type>
std::vector<typename Type::Stored> numbers_of(int64_t rank) {
  std::vector<typename Type::Stored> values;
  for (int64_t i = 0; i < kElements; ++i) {
    values.push_back(Type::store(number(rank, i)));
  }
  return values;
}

template <class Type>
std::vector<typename Type::Stored> reductions(ReduceOp op, int64_t ranks) {
  std::vector<typename Type::Stored> values;
  for (int64_t i = 0; i < kElements; ++i) {
    values.push_back(Type::store(reduced(op, ranks, i)));
  }
  return values;
}

class ReductionTable : public ::testing::TestWithParam<testing::EngineCase> {
 protected:
  void run(const std::function<void(Communicator&)>& function) {
    testing::run_engine(GetParam(), [&](World& world) {
      std::vector<int64_t> members(static_cast<size_t>(world.size()));
      std::iota(members.begin(), members.end(), 0);
      function(*world.group(members, "all"));
    });
  }
};

template <class Type>
void check_all_reduce(Communicator& group, ReduceOp op) {
  auto values = numbers_of<Type>(group.rank());
  const std::span all(values);
  ASSERT_TRUE(group.all_reduce({bytes_of(all)}, Type::kDType, op).wait());
  EXPECT_EQ(values, reductions<Type>(op, group.size()));
}

template <class Type>
void check_reduce_scatter(Communicator& group, ReduceOp op) {
  auto values = numbers_of<Type>(group.rank());
  const std::span all(values);
  const auto begin_of = [&](int64_t member) {
    return static_cast<size_t>(member * kElements / group.size());
  };
  std::vector<ConstSpans> terms;
  for (int64_t member = 0; member < group.size(); ++member) {
    terms.push_back(
        {bytes_of(all.subspan(begin_of(member), begin_of(member + 1) - begin_of(member)))});
  }
  const size_t begin = begin_of(group.rank());
  std::vector<typename Type::Stored> mine(begin_of(group.rank() + 1) - begin);
  const std::span result(mine);
  ASSERT_TRUE(group.reduce_scatter(terms, {bytes_of(result)}, Type::kDType, op).wait());
  const auto wanted = reductions<Type>(op, group.size());
  EXPECT_TRUE(
      std::equal(mine.begin(), mine.end(), wanted.begin() + static_cast<std::ptrdiff_t>(begin)));
}

TEST_P(ReductionTable, R129_HasNoUntestedCell) {
  run([](Communicator& group) {
    for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kMax, ReduceOp::kMin}) {
      check_all_reduce<Float32>(group, op);
      check_all_reduce<BFloat16>(group, op);
      check_all_reduce<Int64>(group, op);
      check_reduce_scatter<Float32>(group, op);
      check_reduce_scatter<BFloat16>(group, op);
      check_reduce_scatter<Int64>(group, op);
    }
  });
}

/// Tensors around the size up to which an all-reduce goes in one step, and odd ones.
constexpr size_t kSizes[] = {1, 0, 2047, 2048, 2049, 3, 5000};

std::vector<std::vector<float>> tensors_of(int64_t rank) {
  std::vector<std::vector<float>> tensors;
  for (const size_t size : kSizes) {
    std::vector<float>& tensor = tensors.emplace_back(size);
    for (size_t i = 0; i < size; ++i) {
      tensor[i] = 1.0F / static_cast<float>(static_cast<size_t>(rank) * 31 + i * 7 + size + 1);
    }
  }
  return tensors;
}

Spans spans_of(std::vector<std::vector<float>>& tensors) {
  Spans spans;
  for (std::vector<float>& tensor : tensors) {
    spans.push_back(bytes_of(std::span<float>(tensor)));
  }
  return spans;
}

TEST_P(ReductionTable, R130_ReducesManySpansAsOneByOneBitForBit) {
  run([](Communicator& group) {
    std::vector<std::vector<float>> together = tensors_of(group.rank());
    ASSERT_TRUE(group.all_reduce(spans_of(together), DType::kFloat32, ReduceOp::kSum).wait());
    std::vector<std::vector<float>> alone = tensors_of(group.rank());
    for (std::vector<float>& tensor : alone) {
      const std::span all(tensor);
      ASSERT_TRUE(group.all_reduce({bytes_of(all)}, DType::kFloat32, ReduceOp::kSum).wait());
    }
    for (size_t i = 0; i < together.size(); ++i) {
      EXPECT_EQ(0,
                std::memcmp(together[i].data(), alone[i].data(), alone[i].size() * sizeof(float)))
          << kSizes[i];
    }
  });
}

TEST_P(ReductionTable, R130_ScattersManySpansAsOneByOneAndLeavesTheTermsAlone) {
  run([](Communicator& group) {
    const auto scatter =
        [&](std::vector<std::vector<float>>& terms, Spans result, size_t first, size_t count) {
          std::vector<ConstSpans> to(static_cast<size_t>(group.size()));
          const Spans spans = spans_of(terms);
          for (ConstSpans& member : to) {
            member.assign(spans.begin() + static_cast<std::ptrdiff_t>(first),
                          spans.begin() + static_cast<std::ptrdiff_t>(first + count));
          }
          ASSERT_TRUE(
              group.reduce_scatter(to, std::move(result), DType::kFloat32, ReduceOp::kSum).wait());
        };
    std::vector<std::vector<float>> terms = tensors_of(group.rank());
    std::vector<std::vector<float>> together = terms;
    scatter(terms, spans_of(together), 0, terms.size());
    EXPECT_EQ(terms, tensors_of(group.rank()));
    std::vector<std::vector<float>> alone = terms;
    for (size_t i = 0; i < alone.size(); ++i) {
      scatter(terms, {spans_of(alone)[i]}, i, 1);
      EXPECT_EQ(0,
                std::memcmp(together[i].data(), alone[i].data(), alone[i].size() * sizeof(float)))
          << kSizes[i];
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Engines,
                         ReductionTable,
                         ::testing::ValuesIn(testing::engine_cases({2, 3, 4})),
                         testing::engine_name);

}  // namespace
}  // namespace brigade::collective
