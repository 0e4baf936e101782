// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/safetensors_header_writer.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trainer/checkpoint/safetensors_header.h"

namespace brigade::checkpoint {
namespace {

TEST(SafetensorsHeaderWriter, OrdersByWidthAndThenByName) {
  std::vector<EntryToWrite> entries = {{"b", ElementType::kU8, {1}, 1},
                                       {"a", ElementType::kF32, {1}, 4},
                                       {"c", ElementType::kF64, {1}, 8},
                                       {"a2", ElementType::kU8, {1}, 1}};
  std::sort(entries.begin(), entries.end(), comes_before);
  std::vector<std::string> names;
  for (const EntryToWrite& entry : entries) {
    names.push_back(entry.name);
  }
  EXPECT_THAT(names, ::testing::ElementsAre("c", "a", "a2", "b"));
}

TEST(SafetensorsHeaderWriter, IsReadAsItWasMeant) {
  const std::vector<EntryToWrite> entries = {{"a \"name\"", ElementType::kF32, {2, 3}, 24},
                                             {"b", ElementType::kU8, {}, 1}};
  std::string file = value_or_throw(safetensors_header(entries, {{"format", "pt"}}));
  EXPECT_EQ(file.size() % 8, 0U);
  const size_t header_bytes = file.size();
  file.append(25, '\0');
  const SafetensorsHeader header =
      value_or_throw(parse_safetensors_header(std::as_bytes(std::span(file)), "file"));
  EXPECT_EQ(header.buffer_begin, header_bytes);
  EXPECT_EQ(header.metadata.at("format"), "pt");
  EXPECT_EQ(header.tensors.at("a \"name\""), (TensorInfo{ElementType::kF32, {2, 3}, 0, 24}));
  EXPECT_EQ(header.tensors.at("b"), (TensorInfo{ElementType::kU8, {}, 24, 25}));
}

TEST(SafetensorsHeaderWriter, RefusesWhatNoReaderTakes) {
  EXPECT_FALSE(
      safetensors_header(std::vector<EntryToWrite>{{"\xff", ElementType::kU8, {0}, 0}}, {}));
  const std::string long_name(kMaxHeaderBytes, 'x');
  EXPECT_FALSE(
      safetensors_header(std::vector<EntryToWrite>{{long_name, ElementType::kU8, {0}, 0}}, {}));
}

}  // namespace
}  // namespace brigade::checkpoint
