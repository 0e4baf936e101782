// SPDX-License-Identifier: Apache-2.0
#include "parallel/base/crc32c.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace brigade {
namespace {

std::vector<std::byte> bytes(size_t count, int first, int step) {
  std::vector<std::byte> values;
  for (size_t i = 0; i < count; ++i) {
    values.push_back(static_cast<std::byte>(first + step * static_cast<int>(i)));
  }
  return values;
}

// RFC 3720, B.4, and the check value of the catalogues.
TEST(Crc32c, GivesTheKnownValues) {
  const std::string digits = "123456789";
  EXPECT_EQ(crc32c(std::as_bytes(std::span(digits))), 0xe3069283U);
  EXPECT_EQ(crc32c({}), 0U);
  EXPECT_EQ(crc32c(bytes(32, 0, 0)), 0x8a9136aaU);
  EXPECT_EQ(crc32c(bytes(32, 0xff, 0)), 0x62a8ab43U);
  EXPECT_EQ(crc32c(bytes(32, 0, 1)), 0x46dd794eU);
  EXPECT_EQ(crc32c(bytes(32, 31, -1)), 0x113fdb5cU);
}

TEST(Crc32c, IsTheSameByTablesForAnySizeAndPlace) {
  const std::vector<std::byte> all = bytes(100, 7, 37);
  for (size_t begin = 0; begin < 9; ++begin) {
    for (size_t size = 0; begin + size <= all.size(); ++size) {
      const auto part = std::span(all).subspan(begin, size);
      EXPECT_EQ(detail::crc32c_by_tables(part, 5), crc32c(part, 5));
    }
  }
}

TEST(Crc32c, GoesOnWhereItStopped) {
  const std::vector<std::byte> all = bytes(100, 3, 11);
  for (size_t cut = 0; cut <= all.size(); ++cut) {
    const auto whole = std::span(all);
    EXPECT_EQ(crc32c(whole.subspan(cut), crc32c(whole.first(cut))), crc32c(all));
  }
}

}  // namespace
}  // namespace brigade
