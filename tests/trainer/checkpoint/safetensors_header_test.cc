// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/safetensors_header.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/text.h"

namespace brigade::checkpoint {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string with_length(uint64_t length, const std::string& rest) {
  std::string file;
  for (unsigned byte = 0; byte < 8; ++byte) {
    file += static_cast<char>(length >> (8 * byte) & 0xff);
  }
  return file + rest;
}

Result<SafetensorsHeader> parse(const std::string& file) {
  return parse_safetensors_header(std::as_bytes(std::span(file)), "f.safetensors");
}

/// A file of this header and a buffer of so many bytes.
Result<SafetensorsHeader> parse_header(const std::string& json, size_t buffer = 0) {
  return parse(with_length(json.size(), json + std::string(buffer, '\0')));
}

std::string refusal(const Result<SafetensorsHeader>& header) {
  if (header) {
    return "accepted";
  }
  EXPECT_EQ(header.error().code, ErrorCode::kData);
  return header.error().text;
}

std::string entry(const std::string& name,
                  const std::string& type,
                  const std::string& shape,
                  const std::string& offsets) {
  return concat('"',
                name,
                R"(":{"dtype":")",
                type,
                R"(","shape":[)",
                shape,
                R"(],"data_offsets":[)",
                offsets,
                "]}");
}

TEST(SafetensorsHeader, ReadsNamesTypesShapesAndRanges) {
  const auto header =
      parse_header(R"({"__metadata__":{"format":"pt"},)" + entry("w", "F32", "2,3", "0,24") + "," +
                       entry("b", "BF16", "3", "24,30") + "}",
                   30);
  ASSERT_TRUE(header) << header.error().text;
  EXPECT_EQ(header->tensors.at("w"), (TensorInfo{ElementType::kF32, {2, 3}, 0, 24}));
  EXPECT_EQ(header->tensors.at("b"), (TensorInfo{ElementType::kBF16, {3}, 24, 30}));
  EXPECT_EQ(header->metadata.at("format"), "pt");
  EXPECT_EQ(header->tensors.size(), 2U);
}

TEST(SafetensorsHeader, TakesEmptyOnesWithWhiteSpace) {
  EXPECT_EQ(parse_header("{}")->tensors.size(), 0U);
  EXPECT_EQ(parse_header("{}                      ")->tensors.size(), 0U);
  EXPECT_EQ(parse_header("\n {} ")->buffer_begin, 13U);
}

TEST(SafetensorsHeader, TakesTensorsWithoutElementsAndScalars) {
  EXPECT_EQ(parse_header("{" + entry("a", "F32", "2,0", "0,0") + "}")->tensors.at("a").shape,
            (std::vector<uint64_t>{2, 0}));
  EXPECT_TRUE(parse_header("{" + entry("a", "F32", "", "0,4") + "," +
                               entry("z", "F64", "0", "0,0") + "," + entry("y", "F64", "0", "4,4") +
                               "}",
                           4));
}

TEST(SafetensorsHeader, TakesSizesOfFullSixtyFourBits) {
  const auto header = parse_header("{" + entry("a", "F32", "18446744073709551615,0", "0,0") + "}");
  EXPECT_THAT(refusal(header), HasSubstr("does not fit into 64 bits"));
  EXPECT_EQ(parse_header("{" + entry("a", "U8", "0,18446744073709551615", "0,0") + "}")
                ->tensors.at("a")
                .shape[1],
            18446744073709551615U);
}

TEST(SafetensorsHeader, RefusesFilesTooShortForALength) {
  EXPECT_EQ(refusal(parse("")), "f.safetensors: a safetensors file has at least 8 bytes; found 0");
  EXPECT_EQ(refusal(parse(std::string(7, '\0'))),
            "f.safetensors: a safetensors file has at least 8 bytes; found 7");
}

TEST(SafetensorsHeader, RefusesHeadersBeyondTheLimit) {
  EXPECT_EQ(refusal(parse(with_length(0xff00000000000002U, "{}"))),
            "f.safetensors: expected a header of at most 100000000 bytes; found a length of "
            "18374686479671623682 (is it a safetensors file?)");
  EXPECT_THAT(refusal(parse(with_length(100000001U, "{}"))), HasSubstr("at most 100000000"));
}

TEST(SafetensorsHeader, RefusesHeadersThatRunPastTheFile) {
  EXPECT_EQ(refusal(parse(with_length(3, "{}"))),
            "f.safetensors: the header's 3 bytes run past the end of a file of 10");
}

TEST(SafetensorsHeader, RefusesWhatIsNotJson) {
  for (const char* const text : {"", "{", "{}}", "{\"a\":}", "{}\xff", "{\"\xff\":{}}", "\xef"}) {
    EXPECT_THAT(refusal(parse_header(text)), StartsWith("f.safetensors: the header is not JSON"))
        << text;
  }
  EXPECT_EQ(refusal(parse_header("[]")),
            "f.safetensors: header: expected a JSON object; found an array");
  EXPECT_EQ(refusal(parse_header("7")), "f.safetensors: header: expected a JSON object; found 7");
}

TEST(SafetensorsHeader, RefusesKeysGivenTwice) {
  const std::string a = entry("a", "U8", "1", "0,1");
  EXPECT_EQ(refusal(parse_header("{" + a + "," + a + "}", 1)),
            "f.safetensors: duplicate key \"a\"");
  EXPECT_EQ(refusal(parse_header(R"({"a":{"dtype":"U8","shape":[1],"shape":[1]}})")),
            "f.safetensors: tensor a: duplicate key \"shape\"");
  EXPECT_EQ(refusal(parse_header(R"({"__metadata__":{"x":"1","x":"2"}})")),
            "f.safetensors: __metadata__: duplicate key \"x\"");
  EXPECT_EQ(refusal(parse_header(R"({"__metadata__":{},"__metadata__":{}})")),
            "f.safetensors: duplicate key \"__metadata__\"");
}

TEST(SafetensorsHeader, RefusesEntriesOfAnotherForm) {
  const auto of = [](const std::string& fields) {
    return refusal(parse_header("{\"a\":" + fields + "}"));
  };
  EXPECT_EQ(of("3"), "f.safetensors: header: expected an object under \"a\"; found 3");
  EXPECT_EQ(of("null"), "f.safetensors: header: expected an object under \"a\"; found null");
  EXPECT_EQ(of(R"({"dtype":"F33"})"), "f.safetensors: tensor a: unknown dtype \"F33\"");
  EXPECT_EQ(of(R"({"dtype":7})"),
            "f.safetensors: tensor a, key \"dtype\": expected a string; found 7");
  EXPECT_EQ(of(R"({"dtype":["F32"]})"),
            "f.safetensors: tensor a, key \"dtype\": expected a string; found an array");
  EXPECT_EQ(of(R"({"shape":"2"})"),
            "f.safetensors: tensor a, key \"shape\": expected an array; found \"2\"");
  EXPECT_EQ(of(R"({"shape":{}})"),
            "f.safetensors: tensor a, key \"shape\": expected an array; found an object");
  EXPECT_EQ(of(R"({"shape":[[1]]})"),
            "f.safetensors: tensor a, key \"shape\": expected whole numbers from 0 to 2^64 - 1; "
            "found an array");
  EXPECT_THAT(of(R"({"shape":[-1]})"), HasSubstr("from 0 to 2^64 - 1; found -1"));
  EXPECT_THAT(of(R"({"shape":[1.5]})"), HasSubstr("from 0 to 2^64 - 1; found 1.5"));
  EXPECT_THAT(of(R"({"shape":[18446744073709551616]})"),
              HasSubstr("from 0 to 2^64 - 1; found 18446744073709551616"));
  EXPECT_EQ(of(R"({"color":1})"), "f.safetensors: tensor a: unknown key \"color\"");
  EXPECT_EQ(of(R"({"dtype":"F32","shape":[]})"),
            "f.safetensors: tensor a: key \"data_offsets\" is missing");
  EXPECT_EQ(of(R"({"dtype":"F32","shape":[],"data_offsets":[0,4,8]})"),
            "f.safetensors: tensor a, key \"data_offsets\": expected two numbers; found 3");
}

TEST(SafetensorsHeader, RefusesMetadataThatIsNotText) {
  EXPECT_EQ(refusal(parse_header(R"({"__metadata__":{"step":7}})")),
            "f.safetensors: __metadata__, key \"step\": expected a string; found 7");
}

TEST(SafetensorsHeader, RefusesGapsOverlapsAndReversedRanges) {
  EXPECT_EQ(refusal(parse_header("{" + entry("a", "U8", "1", "1,2") + "}", 2)),
            "f.safetensors: tensor a: expected data_offsets that begin at 0, where the tensor "
            "before ends; found [1,2]");
  const std::string a = entry("a", "U8", "4", "0,4");
  for (const char* const offsets : {"5,9", "3,7", "0,4"}) {
    EXPECT_EQ(refusal(parse_header("{" + a + "," + entry("b", "U8", "4", offsets) + "}", 16)),
              concat("f.safetensors: tensor b: expected data_offsets that begin at 4, where the "
                     "tensor before ends; found [",
                     offsets,
                     "]"));
  }
  EXPECT_THAT(refusal(parse_header("{" + a + "," + entry("b", "U8", "4", "4,2") + "}", 16)),
              HasSubstr("tensor b: expected data_offsets that begin at 4"));
}

TEST(SafetensorsHeader, RefusesRangesThatAreNotTheShapesSize) {
  EXPECT_EQ(refusal(parse_header("{" + entry("a", "F32", "2,3", "0,20") + "}", 20)),
            "f.safetensors: tensor a: F32[2,3] needs 24 bytes; its data_offsets [0,20] hold 20");
}

TEST(SafetensorsHeader, RefusesSizesBeyondSixtyFourBits) {
  EXPECT_EQ(
      refusal(parse_header("{" + entry("a", "U8", "18446744073709551614,2", "0,4") + "}", 4)),
      "f.safetensors: tensor a: the size of U8[18446744073709551614,2] does not fit into 64 bits");
  EXPECT_THAT(refusal(parse_header("{" + entry("a", "F32", "4611686018427387904", "0,0") + "}")),
              HasSubstr("does not fit into 64 bits"));
}

TEST(SafetensorsHeader, RefusesNarrowTypesThatDoNotFillABytes) {
  EXPECT_EQ(refusal(parse_header("{" + entry("a", "F4", "3", "0,2") + "}", 2)),
            "f.safetensors: tensor a: F4[3] does not end at a whole byte: 12 bits");
  EXPECT_TRUE(parse_header("{" + entry("a", "F6_E2M3", "4", "0,3") + "}", 3));
}

TEST(SafetensorsHeader, RefusesBuffersLongerOrShorterThanTheTensors) {
  const std::string json = "{" + entry("a", "U8", "4", "0,4") + "}";
  EXPECT_EQ(refusal(parse_header(json, 5)),
            "f.safetensors: the tensors cover 4 bytes; after the header the file has 5");
  EXPECT_EQ(refusal(parse_header(json, 3)),
            "f.safetensors: the tensors cover 4 bytes; after the header the file has 3");
  EXPECT_EQ(refusal(parse_header("{}", 1)),
            "f.safetensors: the tensors cover 0 bytes; after the header the file has 1");
}

/// The checks of the format's own library, in its order: each refused for its reason, or taken.
TEST(SafetensorsHeader, MakesTheChecksOfTheFormatsOwnLibrary) {
  const auto text = [](const std::string& json, size_t buffer = 0) {
    return refusal(parse_header(json, buffer));
  };
  EXPECT_THAT(refusal(parse("1234567")), HasSubstr("at least 8 bytes"));                       // 1
  EXPECT_THAT(refusal(parse(with_length(uint64_t{0xff} << 56, "{}"))), HasSubstr("at most"));  // 2
  EXPECT_THAT(refusal(parse(with_length(60, "{}"))), HasSubstr("run past the end"));           // 3
  EXPECT_THAT(text("\xff"), HasSubstr("not JSON"));                                            // 4
  EXPECT_THAT(text("{" + entry("a", "U8", "1", "1,2") + "}", 2), HasSubstr("tensor a"));       // 5
  std::string shared;
  for (int i = 0; i < 1000; ++i) {
    shared += concat(i == 0 ? "" : ",", entry(concat("t", i), "U8", "9", "0,9"));
  }
  EXPECT_THAT(text("{" + shared + "}", 9), HasSubstr("begin at 9"));                      // 5
  EXPECT_THAT(text("{" + entry("a", "F32", "2", "0,7") + "}", 7), HasSubstr("needs 8"));  // 6
  EXPECT_THAT(text("{" + entry("a", "U8", "18446744073709551614,2", "0,4") + "}", 4),
              HasSubstr("64 bits"));                                                        // 7
  EXPECT_THAT(text("{" + entry("a", "F4", "3", "0,1") + "}", 1), HasSubstr("whole byte"));  // 8
  EXPECT_THAT(text("{" + entry("a", "U8", "1", "0,1") + "}", 2), HasSubstr("cover 1"));     // 9
  EXPECT_EQ(text("{}      "), "accepted");                                                  // 10
  EXPECT_EQ(text("{" + entry("a", "F32", "2,0", "0,0") + "}"), "accepted");                 // 11
}

TEST(SafetensorsHeader, R102RefusesFilesThatPromiseMoreThanTheyHold) {
  const auto text = [](const std::string& one, size_t buffer) {
    return refusal(parse_header("{" + one + "}", buffer));
  };
  EXPECT_THAT(text(entry("a", "F32", "1000,1000", "0,4"), 4),
              HasSubstr("tensor a: F32[1000,1000] needs 4000000 bytes"));
  EXPECT_THAT(text(entry("a", "U8", "4", "4,0"), 4), HasSubstr("tensor a"));
  EXPECT_THAT(text(entry("a", "U8", "4", "-4,0"), 4), HasSubstr("tensor a"));
  EXPECT_THAT(text(entry("a", "U8", "-4", "0,4"), 4), HasSubstr("tensor a"));
  EXPECT_THAT(text(entry("a", "U8", "40", "0,40"), 4), HasSubstr("f.safetensors"));
  EXPECT_THAT(text(entry("a", "U8", "4", "0,18446744073709551615"), 4), HasSubstr("tensor a"));
  EXPECT_THAT(text(entry("a", "F33", "1", "0,4"), 4), HasSubstr("tensor a: unknown dtype"));
  EXPECT_THAT(refusal(parse_header("[1]")), HasSubstr("expected a JSON object"));
  const std::string json = "{" + entry("a", "U8", "4", "0,4") + "}";
  const std::string file = with_length(json.size(), json + "1234");
  EXPECT_EQ(refusal(parse(file)), "accepted");
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_THAT(refusal(parse(file.substr(0, size))), StartsWith("f.safetensors")) << size;
  }
}

TEST(SafetensorsHeader, R103RefusesBytesOfTwoTensorsOrOfNone) {
  const std::string k = entry("k", "U8", "4", "0,4");
  const auto with = [&](const std::string& other, size_t buffer) {
    return refusal(parse_header("{" + k + "," + other + "}", buffer));
  };
  EXPECT_THAT(with(entry("v", "U8", "4", "0,4"), 4), HasSubstr("tensor v: expected data_offsets"));
  EXPECT_THAT(with(entry("v", "U8", "4", "2,6"), 6), HasSubstr("tensor v: expected data_offsets"));
  EXPECT_THAT(with(entry("v", "U8", "4", "5,9"), 9), HasSubstr("tensor v: expected data_offsets"));
  EXPECT_THAT(with(entry("v", "U8", "4", "4,8"), 9), HasSubstr("cover 8 bytes"));
  EXPECT_EQ(refusal(parse_header(
                "{" + entry("b", "U8", "4", "4,8") + "," + entry("a", "U8", "4", "0,4") + "}", 8)),
            "accepted")
      << "names in any order";
}

TEST(SafetensorsHeader, R104CallsADuplicateADuplicate) {
  const std::string a = entry("a", "U8", "1", "0,1");
  EXPECT_EQ(refusal(parse_header("{" + a + "," + entry("a", "U8", "1", "1,2") + "}", 2)),
            "f.safetensors: duplicate key \"a\"");
}

/// What must be true of a header that is taken.
void expect_sound(const SafetensorsHeader& header, uint64_t file_bytes) {
  uint64_t held = 0;
  for (const auto& [name, info] : header.tensors) {
    ASSERT_LE(info.begin, info.end);
    ASSERT_LE(info.end, file_bytes - header.buffer_begin) << name;
    uint64_t bits = bits_of(info.type);
    for (const uint64_t size : info.shape) {
      ASSERT_FALSE(__builtin_mul_overflow(bits, size, &bits)) << name;
    }
    EXPECT_EQ(bits, 8 * (info.end - info.begin)) << name;
    held += info.end - info.begin;
  }
  EXPECT_EQ(held, file_bytes - header.buffer_begin);
}

TEST(SafetensorsHeader, TakesNoMutationThatBreaksAnInvariant) {
  const std::string json =
      R"({"__metadata__":{"format":"pt"},)" + entry("w", "F32", "2,3", "0,24") + "," +
      entry("b", "BF16", "3", "24,30") + "," + entry("e", "I64", "0,4", "30,30") + "}";
  const std::string whole = with_length(json.size(), json + std::string(30, 'x'));
  std::mt19937 random(102);
  int taken = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string file = whole;
    const size_t at = random() % file.size();
    switch (random() % 5) {
      case 0: file[at] = static_cast<char>(file[at] ^ (1 << random() % 8)); break;
      case 1: file.resize(at); break;
      case 2: file[8 + random() % json.size()] = "0123456789,:{}[]\" "[random() % 18]; break;
      case 3: file.insert(at, whole.substr(random() % whole.size(), random() % 30)); break;
      default: {  // the length repaired
        std::string changed = json;
        changed.insert(random() % json.size(), json.substr(random() % json.size(), random() % 9));
        file = with_length(changed.size(), changed + std::string(30, 'x'));
      }
    }
    if (const auto header = parse(file)) {
      expect_sound(*header, file.size());
      ++taken;
    }
  }
  EXPECT_GT(taken, 100) << "names and the buffer may change";
  EXPECT_LT(taken, 15'000);
}

}  // namespace
}  // namespace brigade::checkpoint
