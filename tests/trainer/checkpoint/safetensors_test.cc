// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/safetensors.h"

#include <cstring>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/check.h"
#include "tests/trainer/checkpoint/temporary_folder.h"
#include "trainer/checkpoint/safetensors_writer.h"

namespace brigade::checkpoint {
namespace {

using sharding::Box;

/// One int32 tensor "t" of this shape whose elements are their own flat index.
SafetensorsFile counting_file(const TemporaryFolder& folder, std::vector<uint64_t> shape) {
  uint64_t count = 1;
  for (const uint64_t size : shape) {
    count *= size;
  }
  std::vector<int32_t> values(count);
  std::iota(values.begin(), values.end(), 0);
  const TensorToWrite tensor{
      "t", ElementType::kI32, std::move(shape), std::as_bytes(std::span(values))};
  const std::string path = folder / "t.safetensors";
  value_or_throw(write_safetensors(path, std::span(&tensor, 1)));
  return value_or_throw(SafetensorsFile::open(path));
}

std::vector<int32_t> read_box(const SafetensorsFile& file, const Box& box) {
  size_t count = 1;
  for (const auto& dim : box.dims) {
    count *= static_cast<size_t>(dim.size());
  }
  std::vector<int32_t> out(count, -1);
  value_or_throw(
      file.read_box(value_or_throw(file.tensor("t")), box, std::as_writable_bytes(std::span(out))));
  return out;
}

TEST(Safetensors, ReadsAnyBoxOfATensor) {
  const TemporaryFolder folder;
  const SafetensorsFile file = counting_file(folder, {3, 4, 5});
  for (int64_t a = 0; a <= 3; ++a) {
    for (int64_t b = 0; b <= 4; ++b) {
      for (int64_t c = 0; c <= 5; ++c) {
        const Box box{{{a / 2, a}, {b / 2, b}, {c / 2, c}}};
        std::vector<int32_t> expected;
        for (int64_t i = a / 2; i < a; ++i) {
          for (int64_t j = b / 2; j < b; ++j) {
            for (int64_t k = c / 2; k < c; ++k) {
              expected.push_back(static_cast<int32_t>((i * 4 + j) * 5 + k));
            }
          }
        }
        EXPECT_EQ(read_box(file, box), expected) << a << b << c;
      }
    }
  }
}

TEST(Safetensors, ReadsWholeTensorsRowsAndColumns) {
  const TemporaryFolder folder;
  const SafetensorsFile file = counting_file(folder, {2, 3});
  EXPECT_EQ(read_box(file, Box{{{0, 2}, {0, 3}}}), (std::vector<int32_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(read_box(file, Box{{{1, 2}, {0, 3}}}), (std::vector<int32_t>{3, 4, 5}));
  EXPECT_EQ(read_box(file, Box{{{0, 2}, {1, 2}}}), (std::vector<int32_t>{1, 4}));
}

TEST(Safetensors, ReadsScalarsAndEmptyTensors) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_box(counting_file(folder, {}), Box{}), std::vector<int32_t>{0});
  EXPECT_EQ(read_box(counting_file(folder, {2, 0}), Box{{{0, 2}, {0, 0}}}), std::vector<int32_t>());
}

TEST(Safetensors, RefusesBoxesAndBuffersThatDoNotFit) {
  const TemporaryFolder folder;
  const SafetensorsFile file = counting_file(folder, {2, 3});
  const TensorView view = value_or_throw(file.tensor("t"));
  std::vector<std::byte> out(24);
  EXPECT_THROW((void)file.read_box(view, Box{{{0, 2}, {0, 4}}}, out), CheckFailure);
  EXPECT_THROW((void)file.read_box(view, Box{{{0, 2}}}, out), CheckFailure);
  EXPECT_THROW((void)file.read_box(view, Box{{{0, 2}, {0, 2}}}, out), CheckFailure);
  EXPECT_THROW((void)file.read_box(view, Box{{{2, 1}, {0, 3}}}, out), CheckFailure);
}

TEST(Safetensors, RefusesPartsOfElementsNarrowerThanAByte) {
  const TemporaryFolder folder;
  const std::byte value{0};
  const TensorToWrite tensor{"t", ElementType::kF4, {2}, std::span(&value, 1)};
  value_or_throw(write_safetensors(folder / "f", std::span(&tensor, 1)));
  const auto file = value_or_throw(SafetensorsFile::open(folder / "f"));
  std::vector<std::byte> out(1);
  const auto result = file.read_box(value_or_throw(file.tensor("t")), Box{{{0, 2}}}, out);
  ASSERT_FALSE(result);
  EXPECT_EQ(
      result.error().text,
      (folder / "f") + ": tensor t: a part of F4 cannot be read: its elements are no whole bytes");
}

TEST(Safetensors, NamesTheNearestTensorForAMissingOne) {
  const auto file =
      value_or_throw(SafetensorsFile::open(BRIGADE_TEST_DATA "/llama_tiny/model.safetensors"));
  EXPECT_EQ(file.tensor("lm_head.wieght").error().text,
            file.path() + ": no tensor lm_head.wieght among 39 (did you mean lm_head.weight?)");
  EXPECT_EQ(file.tensor("x").error().text, file.path() + ": no tensor x among 39");
}

TEST(Safetensors, RefusesFilesThatAreNone) {
  const TemporaryFolder folder;
  const auto missing = SafetensorsFile::open(folder / "missing");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kIo);
  EXPECT_EQ(missing.error().text,
            (folder / "missing") + " cannot be opened: No such file or directory");
  EXPECT_EQ(SafetensorsFile::open(folder.path()).error().text,
            folder.path().string() + " is not a file");
  write_file(folder / "empty", "");
  EXPECT_EQ(SafetensorsFile::open(folder / "empty").error().text,
            (folder / "empty") + ": a safetensors file has at least 8 bytes; found 0");
}

TEST(Safetensors, SaysWhetherATensorIsAligned) {
  const TemporaryFolder folder;
  const std::string json = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  std::string file = std::string(1, static_cast<char>(json.size())) + std::string(7, '\0') + json;
  ASSERT_NE(file.size() % 4, 0U);
  write_file(folder / "odd", file + std::string(4, '\0'));
  const auto odd = value_or_throw(SafetensorsFile::open(folder / "odd"));
  EXPECT_FALSE(value_or_throw(odd.tensor("a")).is_aligned());
  const auto even = counting_file(folder, {1});
  EXPECT_TRUE(value_or_throw(even.tensor("t")).is_aligned());
}

TEST(Safetensors, MovesWithItsMapping) {
  const TemporaryFolder folder;
  SafetensorsFile first = counting_file(folder, {4});
  SafetensorsFile second = std::move(first);
  EXPECT_EQ(read_box(second, Box{{{2, 4}}}), (std::vector<int32_t>{2, 3}));
}

/// Written by transformers, read by nobody of ours before.
TEST(Safetensors, ReadsRealCheckpoints) {
  struct Case {
    const char* folder;
    const char* tensor;
    std::vector<uint64_t> shape;
    size_t tensors;
  };
  for (const Case& c : {Case{"llama_tiny", "model.embed_tokens.weight", {96, 32}, 39},
                        Case{"llama_tied_uneven", "model.embed_tokens.weight", {97, 32}, 65},
                        Case{"gpt2_tiny", "transformer.wte.weight", {101, 24}, 28}}) {
    const auto file = value_or_throw(SafetensorsFile::open(std::string(BRIGADE_TEST_DATA "/") +
                                                           c.folder + "/model.safetensors"));
    EXPECT_EQ(file.header().metadata.at("format"), "pt");
    EXPECT_EQ(file.header().tensors.size(), c.tensors) << c.folder;
    const TensorView view = value_or_throw(file.tensor(c.tensor));
    EXPECT_EQ(view.type, ElementType::kF32);
    EXPECT_TRUE(view.is_aligned());
    EXPECT_THAT(view.shape, testing::ElementsAreArray(c.shape));
    const auto last = static_cast<int64_t>(c.shape[0]);
    std::vector<float> row(c.shape[1]);
    value_or_throw(file.read_box(view,
                                 Box{{{last - 1, last}, {0, static_cast<int64_t>(c.shape[1])}}},
                                 std::as_writable_bytes(std::span(row))));
    EXPECT_EQ(std::memcmp(row.data(),
                          view.bytes.data() + view.bytes.size() - row.size() * sizeof(float),
                          row.size() * sizeof(float)),
              0);
    EXPECT_THAT(row, testing::Each(testing::AllOf(testing::Gt(-10.0F), testing::Lt(10.0F))));
  }
}

}  // namespace
}  // namespace brigade::checkpoint
