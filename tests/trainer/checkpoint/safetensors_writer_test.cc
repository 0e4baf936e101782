// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/safetensors_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/check.h"
#include "tests/trainer/checkpoint/temporary_folder.h"
#include "trainer/checkpoint/safetensors.h"

namespace brigade::checkpoint {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

TEST(SafetensorsWriter, WritesTheFormatByteForByte) {
  const TemporaryFolder folder;
  const std::string path = folder / "m.safetensors";
  const std::string wide = "01234567";
  const std::string narrow = "xy";
  const std::vector<TensorToWrite> tensors = {{"b", ElementType::kU8, {2}, bytes_of(narrow)},
                                              {"z", ElementType::kF32, {1, 2}, bytes_of(wide)},
                                              {"a", ElementType::kU8, {2}, bytes_of(narrow)}};
  value_or_throw(write_safetensors(path, tensors, {{"format", "pt"}}));
  const std::string json = R"({"__metadata__":{"format":"pt"},)"
                           R"("z":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},)"
                           R"("a":{"dtype":"U8","shape":[2],"data_offsets":[8,10]},)"
                           R"("b":{"dtype":"U8","shape":[2],"data_offsets":[10,12]}})";
  const std::string padding((8 - json.size() % 8) % 8, ' ');
  std::string expected(8, '\0');
  expected[0] = static_cast<char>(json.size() + padding.size());
  EXPECT_EQ(contents(path), expected + json + padding + wide + narrow + narrow);
}

TEST(SafetensorsWriter, WritesNothingAtAllAsAnEmptyHeader) {
  const TemporaryFolder folder;
  value_or_throw(write_safetensors(folder / "e", {}));
  EXPECT_EQ(contents(folder / "e"), std::string("\x08\0\0\0\0\0\0\0{}      ", 16));
}

TEST(SafetensorsWriter, WhatItWritesReadsBack) {
  const TemporaryFolder folder;
  const std::string path = folder / "m.safetensors";
  const std::string data(48, 'q');
  const std::vector<TensorToWrite> tensors = {
      {"quote \" and \xc3\xa4", ElementType::kF64, {2, 3}, bytes_of(data)},
      {"empty", ElementType::kI64, {0, 7}, {}},
      {"scalar", ElementType::kBF16, {}, bytes_of(data).first(2)}};
  const std::map<std::string, std::string> metadata = {{"step", "7"}, {"line\n", "tab\t"}};
  value_or_throw(write_safetensors(path, tensors, metadata));
  const auto file = value_or_throw(SafetensorsFile::open(path));
  EXPECT_EQ(file.header().metadata, metadata);
  EXPECT_EQ(file.header().tensors.size(), tensors.size());
  for (const TensorToWrite& tensor : tensors) {
    const TensorView view = value_or_throw(file.tensor(tensor.name));
    EXPECT_EQ(view.type, tensor.type);
    EXPECT_THAT(view.shape, testing::ElementsAreArray(tensor.shape));
    EXPECT_THAT(view.bytes, testing::ElementsAreArray(tensor.bytes));
    EXPECT_TRUE(view.is_aligned());
  }
}

TEST(SafetensorsWriter, ReplacesAFileThatIsMappedWithoutTouchingIt) {
  const TemporaryFolder folder;
  const std::string path = folder / "m";
  const std::string before = "before";
  const std::string after = "after!";
  TensorToWrite tensor{"t", ElementType::kU8, {6}, bytes_of(before)};
  value_or_throw(write_safetensors(path, std::span(&tensor, 1)));
  const auto old = value_or_throw(SafetensorsFile::open(path));
  tensor.bytes = bytes_of(after);
  value_or_throw(write_safetensors(path, std::span(&tensor, 1)));
  EXPECT_THAT(value_or_throw(old.tensor("t")).bytes, testing::ElementsAreArray(bytes_of(before)));
  const auto fresh = value_or_throw(SafetensorsFile::open(path));
  EXPECT_THAT(value_or_throw(fresh.tensor("t")).bytes, testing::ElementsAreArray(bytes_of(after)));
}

TEST(SafetensorsWriter, LeavesNothingBehindWhenItFails) {
  const TemporaryFolder folder;
  const auto missing = write_safetensors(folder / "no/such/folder", {});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kIo);
  EXPECT_EQ(missing.error().text,
            concat(folder / "no/such/folder",
                   ".tmp.",
                   ::getpid(),
                   " cannot be created: No such file or directory"));
  std::filesystem::create_directories(folder.path() / "taken" / "inside");
  const auto taken = write_safetensors(folder / "taken", {});
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().text, (folder / "taken") + " cannot be renamed: Is a directory");
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    files += entry.is_regular_file() ? 1 : 0;
  }
  EXPECT_EQ(files, 0);
}

TEST(SafetensorsWriter, ReportsNamesThatAreNotUtf8) {
  const TemporaryFolder folder;
  const TensorToWrite tensor{"\xff", ElementType::kU8, {0}, {}};
  const auto result = write_safetensors(folder / "m", std::span(&tensor, 1));
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().text, testing::HasSubstr("a name is not UTF-8"));
  EXPECT_FALSE(std::filesystem::exists(folder / "m"));
}

TEST(SafetensorsWriter, RefusesTensorsThatContradictThemselves) {
  const std::string data = "abcd";
  const auto write = [](std::vector<TensorToWrite> tensors) {
    (void)write_safetensors("never", tensors);
  };
  EXPECT_THROW(write({{"t", ElementType::kU8, {3}, bytes_of(data)}}), CheckFailure);
  EXPECT_THROW(write({{"t", ElementType::kU8, {4}, bytes_of(data)},
                      {"t", ElementType::kU8, {4}, bytes_of(data)}}),
               CheckFailure);
  EXPECT_THROW(write({{"__metadata__", ElementType::kU8, {4}, bytes_of(data)}}), CheckFailure);
  EXPECT_THROW(write({{"t", ElementType::kF4, {3}, bytes_of(data)}}), CheckFailure);
}

TEST(SafetensorsWriter, StreamsTheSameBytesInPieces) {
  const TemporaryFolder folder;
  const std::string data = "abcdefghijklmnopqrstuvwx";
  const std::vector<TensorToWrite> whole = {{"b", ElementType::kF32, {2, 3}, bytes_of(data)},
                                            {"a", ElementType::kBF16, {4}, bytes_of(data).first(8)},
                                            {"e", ElementType::kF32, {0}, {}},
                                            {"s", ElementType::kF64, {}, bytes_of(data).first(8)}};
  value_or_throw(write_safetensors(folder / "whole", whole, {{"format", "pt"}}));
  std::vector<TensorPlan> plans;
  std::map<std::string, size_t> sizes;
  for (const TensorToWrite& tensor : whole) {
    plans.push_back({tensor.name, tensor.type, tensor.shape});
    sizes[tensor.name] = tensor.bytes.size();
  }
  const ProduceTensor bytewise = [&](const TensorPlan& plan, const AppendBytes& append) {
    Result<void> done;
    for (size_t at = 0; done && at < sizes.at(plan.name); ++at) {
      done = append(bytes_of(data).subspan(at, 1));
    }
    return done;
  };
  value_or_throw(stream_safetensors(folder / "stream", plans, bytewise, {{"format", "pt"}}));
  EXPECT_EQ(contents(folder / "stream"), contents(folder / "whole"));
}

TEST(SafetensorsWriter, LeavesNothingWhenATensorCannotBeMade) {
  const TemporaryFolder folder;
  const std::vector<TensorPlan> plans = {{"a", ElementType::kU8, {1}}};
  const Result<void> done =
      stream_safetensors(folder / "m", plans, [](const TensorPlan&, const AppendBytes&) {
        return Result<void>(fail(ErrorCode::kIo, "gone"));
      });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().text, "gone");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace brigade::checkpoint
