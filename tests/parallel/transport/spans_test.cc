// SPDX-License-Identifier: Apache-2.0
#include "parallel/transport/spans.h"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "parallel/base/check.h"

namespace brigade::transport {
namespace {

std::vector<std::byte> counted(size_t length) {
  std::vector<std::byte> bytes(length);
  for (size_t i = 0; i < length; ++i) {
    bytes[i] = static_cast<std::byte>(i);
  }
  return bytes;
}

Spans cut(std::vector<std::byte>& bytes, const std::vector<size_t>& lengths) {
  Spans spans;
  size_t at = 0;
  for (const size_t length : lengths) {
    spans.push_back(Span(bytes).subspan(at, length));
    at += length;
  }
  return spans;
}

TEST(Spans, SliceEveryRangeOfUnevenPieces) {
  std::vector<std::byte> bytes = counted(12);
  const Spans spans = cut(bytes, {3, 0, 5, 1, 0, 3});
  for (int64_t begin = 0; begin <= 12; ++begin) {
    for (int64_t end = begin; end <= 12; ++end) {
      std::vector<std::byte> found;
      for (const Span piece : slice(spans, begin, end - begin)) {
        EXPECT_FALSE(piece.empty());
        found.insert(found.end(), piece.begin(), piece.end());
      }
      EXPECT_EQ(found, std::vector<std::byte>(bytes.begin() + begin, bytes.begin() + end));
    }
  }
  EXPECT_THROW(slice(spans, 0, 13), CheckFailure);
}

TEST(Spans, CopyBetweenDifferentCuts) {
  std::vector<std::byte> from = counted(12);
  std::vector<std::byte> to(12);
  copy(transport::as_const(cut(from, {0, 4, 8})), cut(to, {5, 0, 1, 6}));
  EXPECT_EQ(to, from);
  EXPECT_THROW(copy(transport::as_const(cut(from, {4})), cut(to, {5})), CheckFailure);
}

}  // namespace
}  // namespace brigade::transport
