// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/byte_file.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/text.h"

namespace brigade::data {
namespace {

using Row = std::vector<int64_t>;

/// A folder of its own with files of bytes 0, 1, 2, ...
class ByteFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              concat("brigade_byte_file_",
                     ::getpid(),
                     "_",
                     testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file_of(int64_t size) {
    const std::string path = folder_ / concat(size, ".bin");
    std::ofstream out(path, std::ios::binary);
    for (int64_t i = 0; i < size; ++i) {
      out.put(static_cast<char>(i % 256));
    }
    return path;
  }

  static std::string refusal(ByteFileOptions options, ErrorCode code) {
    const auto source = ByteFile::open(std::move(options));
    if (source) {
      return "accepted";
    }
    EXPECT_EQ(source.error().code, code);
    return source.error().text;
  }

  std::filesystem::path folder_;
};

struct Sample {
  Row tokens;
  Row targets;
};

Sample read(const ByteFile& source, int64_t epoch, int64_t index) {
  const auto length = static_cast<size_t>(source.seq_len());
  Sample sample{Row(length), Row(length)};
  value_or_throw(source.read(epoch, index, sample.tokens, sample.targets));
  return sample;
}

TEST_F(ByteFileTest, CutsWindowsThatShareOneByte) {
  const auto source = value_or_throw(ByteFile::open(
      {.path = file_of(12), .seq_len = 3, .part = Part::kValidation, .validation_fraction = 0.9}));
  EXPECT_EQ(source.size(), 10);  // bytes 2 ... 11
  EXPECT_EQ(source.sample_count(), 3);
  EXPECT_EQ(source.dropped_bytes(), 0);
  EXPECT_EQ(read(source, 0, 0).tokens, (Row{2, 3, 4}));
  EXPECT_EQ(read(source, 0, 0).targets, (Row{3, 4, 5}));
  EXPECT_EQ(read(source, 9, 2).tokens, (Row{8, 9, 10}));
  EXPECT_EQ(read(source, 9, 2).targets, (Row{9, 10, 11}));
}

TEST_F(ByteFileTest, ReadsAFileForValidationAloneWholeAndInOrder) {
  const ByteFile source = value_or_throw(ByteFile::open(
      {.path = file_of(13), .seq_len = 3, .part = Part::kValidation, .validation_fraction = 1.0}));
  EXPECT_EQ(source.size(), 13);
  EXPECT_EQ(source.sample_count(), 4);
  EXPECT_EQ(read(source, 0, 0).tokens, (Row{0, 1, 2}));
  EXPECT_EQ(read(source, 0, 3).targets, (Row{10, 11, 12}));
  EXPECT_EQ(source.description().find("of the bytes"), std::string::npos) << source.description();
}

TEST_F(ByteFileTest, CountsTheTailThatFillsNoSample) {
  const auto source = value_or_throw(ByteFile::open({.path = file_of(1203), .seq_len = 100}));
  EXPECT_EQ(source.sample_count(), 12);
  EXPECT_EQ(source.dropped_bytes(), 2);
  EXPECT_THAT(source.description(),
              testing::EndsWith("1203.bin: 1,203 bytes, 12 samples of seq_len 100, 2 bytes at the "
                                "end fill no sample"));
}

TEST_F(ByteFileTest, TakesTheSmallestFileThatFillsASample) {
  const auto source = value_or_throw(ByteFile::open({.path = file_of(5), .seq_len = 4}));
  EXPECT_EQ(source.sample_count(), 1);
  EXPECT_EQ(read(source, 3, 0).targets, (Row{1, 2, 3, 4}));
}

TEST_F(ByteFileTest, GivesEverySampleOnceInEveryEpoch) {
  const auto source = value_or_throw(ByteFile::open({.path = file_of(200), .seq_len = 4}));
  std::vector<Row> orders;
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    Row order;
    for (int64_t i = 0; i < source.sample_count(); ++i) {
      order.push_back(read(source, epoch, i).tokens.front());
    }
    orders.push_back(order);
    const std::set<int64_t> distinct(order.begin(), order.end());
    EXPECT_EQ(std::ssize(distinct), source.sample_count());
    EXPECT_EQ(*distinct.rbegin(), (source.sample_count() - 1) * 4);
  }
  EXPECT_NE(orders[0], orders[1]);
  EXPECT_NE(orders[1], orders[2]);
}

TEST_F(ByteFileTest, TrainingAndValidationShareNoByte) {
  const std::string path = file_of(100);
  const auto training =
      value_or_throw(ByteFile::open({.path = path, .seq_len = 4, .validation_fraction = 0.25}));
  const auto validation = value_or_throw(ByteFile::open(
      {.path = path, .seq_len = 4, .part = Part::kValidation, .validation_fraction = 0.25}));
  EXPECT_EQ(training.size(), 75);
  EXPECT_EQ(validation.size(), 25);
  EXPECT_EQ(read(validation, 0, 0).tokens.front(), 75);
  for (int64_t i = 0; i < training.sample_count(); ++i) {
    EXPECT_LT(read(training, 0, i).targets.back(), 75);
  }
  EXPECT_THAT(validation.description(), testing::HasSubstr(", its last 0.25 of the bytes: 25 "));
}

TEST_F(ByteFileTest, TrainsEveryTargetOfTheRange) {
  const auto source = value_or_throw(ByteFile::open({.path = file_of(50), .seq_len = 4}));
  EXPECT_EQ(source.trained_tokens(10, 17), 28);
}

TEST_F(ByteFileTest, RefusesWhatIsNoFile) {
  EXPECT_THAT(refusal({.path = folder_ / "missing", .seq_len = 4}, ErrorCode::kIo),
              testing::EndsWith("missing: cannot be opened: No such file or directory"));
  EXPECT_EQ(refusal({.path = folder_, .seq_len = 4}, ErrorCode::kIo),
            concat("training data ", folder_.string(), " is a folder; expected a file"));
  EXPECT_EQ(refusal({.path = "/dev/null", .seq_len = 4}, ErrorCode::kIo),
            "training data /dev/null is a pipe or device; expected a file");
}

TEST_F(ByteFileTest, RefusesFilesThatFillNoSample) {
  EXPECT_THAT(refusal({.path = file_of(0), .seq_len = 4}, ErrorCode::kData),
              testing::EndsWith("0.bin is empty"));
  EXPECT_THAT(
      refusal({.path = file_of(1024), .seq_len = 1024}, ErrorCode::kData),
      testing::EndsWith("1024.bin: needs at least 1,025 bytes for seq_len 1,024, has 1,024"));
  EXPECT_THAT(refusal({.path = file_of(100),
                       .seq_len = 10,
                       .part = Part::kValidation,
                       .validation_fraction = 0.05},
                      ErrorCode::kData),
              testing::EndsWith("100.bin, its last 0.05 of the bytes: needs at least 11 bytes for "
                                "seq_len 10, has 5"));
}

TEST_F(ByteFileTest, RefusesSettingsWithoutMeaning) {
  EXPECT_THAT(refusal({.path = file_of(9), .seq_len = 0}, ErrorCode::kUsage),
              testing::EndsWith("expected a seq_len of at least 1; found 0"));
  EXPECT_THAT(
      refusal({.path = file_of(9), .seq_len = 1, .validation_fraction = 1.0}, ErrorCode::kUsage),
      testing::EndsWith("expected a validation fraction in [0, 1); found 1"));
  EXPECT_THAT(
      refusal(
          {.path = file_of(9), .seq_len = 1, .part = Part::kValidation, .validation_fraction = 1.5},
          ErrorCode::kUsage),
      testing::EndsWith("expected a validation fraction in [0, 1]; found 1.5"));
}

TEST_F(ByteFileTest, NamesAFileThatShrinksUnderIt) {
  const std::string path = file_of(100);
  const auto source = value_or_throw(ByteFile::open({.path = path, .seq_len = 99}));
  std::filesystem::resize_file(path, 40);
  Row tokens(99);
  Row targets(99);
  const auto result = source.read(0, 0, tokens, targets);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().text,
              testing::EndsWith("100.bin became shorter while in use; ends at byte 40"));
}

}  // namespace
}  // namespace brigade::data
