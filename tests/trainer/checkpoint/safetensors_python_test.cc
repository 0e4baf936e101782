// SPDX-License-Identifier: Apache-2.0
// The format's own library as judge, in both directions. Built only where BRIGADE_PYTHON has it.
#include <cstdlib>
#include <numeric>

#include <gtest/gtest.h>

#include "tests/trainer/checkpoint/temporary_folder.h"
#include "trainer/checkpoint/safetensors.h"
#include "trainer/checkpoint/safetensors_writer.h"

namespace brigade::checkpoint {
namespace {

/// Runs a script in the folder; true if it ends well.
bool python(const TemporaryFolder& folder, const char* script) {
  write_file(folder / "script.py", script);
  const std::string command =
      concat("cd '", folder.path().string(), "' && '", BRIGADE_PYTHON, "' script.py");
  return std::system(command.c_str()) == 0;  // NOLINT(concurrency-mt-unsafe)
}

// Newer libraries take addresses, older ones bytes.
constexpr const char* kWrite = R"(
import ctypes, safetensors
data = ctypes.create_string_buffer(bytes(range(24)), 24)
def tensor(dtype, shape, size):
  if hasattr(safetensors, "TensorSpec"):
    return safetensors.TensorSpec(
        dtype=dtype, shape=shape, data_ptr=ctypes.addressof(data), data_len=size)
  return {"dtype": dtype, "shape": shape, "data": data.raw[:size]}
safetensors.serialize_file({
  "w": tensor("float32", [2, 3], 24),
  "\u00e4\"\n": tensor("int64", [1], 8),
  "b": tensor("bfloat16", [4], 8),
  "a": tensor("bfloat16", [], 2),
  "e": tensor("float32", [0, 5], 0),
}, "python.safetensors", {"format": "pt"})
)";

TEST(SafetensorsPython, WritesTheBytesThatTheLibraryWrites) {
  const TemporaryFolder folder;
  ASSERT_TRUE(python(folder, kWrite));
  std::vector<uint8_t> data(24);
  std::iota(data.begin(), data.end(), uint8_t{0});
  const auto bytes = std::as_bytes(std::span(data));
  const std::vector<TensorToWrite> tensors = {
      {"w", ElementType::kF32, {2, 3}, bytes},
      {"\xc3\xa4\"\n", ElementType::kI64, {1}, bytes.first(8)},
      {"b", ElementType::kBF16, {4}, bytes.first(8)},
      {"a", ElementType::kBF16, {}, bytes.first(2)},
      {"e", ElementType::kF32, {0, 5}, {}}};
  value_or_throw(write_safetensors(folder / "ours.safetensors", tensors, {{"format", "pt"}}));
  EXPECT_EQ(contents(folder / "ours.safetensors"), contents(folder / "python.safetensors"));
  const auto file = value_or_throw(SafetensorsFile::open(folder / "python.safetensors"));
  EXPECT_EQ(file.header().tensors.size(), 5U);
}

constexpr const char* kRead = R"(
from safetensors import deserialize
tensors = dict(deserialize(open("ours.safetensors", "rb").read()))
assert set(tensors) == {"w", "s"}, tensors
assert tensors["w"]["dtype"] == "F32" and tensors["w"]["shape"] == [2, 1], tensors
assert bytes(tensors["w"]["data"]) == b"12345678", tensors
assert tensors["s"]["shape"] == [] and bytes(tensors["s"]["data"]) == b"12", tensors
)";

TEST(SafetensorsPython, LibraryReadsWhatWeWrite) {
  const TemporaryFolder folder;
  const std::string data = "12345678";
  const auto bytes = std::as_bytes(std::span(data));
  const std::vector<TensorToWrite> tensors = {{"s", ElementType::kF16, {}, bytes.first(2)},
                                              {"w", ElementType::kF32, {2, 1}, bytes}};
  value_or_throw(write_safetensors(folder / "ours.safetensors", tensors, {{"k", "v"}}));
  EXPECT_TRUE(python(folder, kRead));
}

constexpr const char* kRewrite = R"(
import json, safetensors
data = open("ours.safetensors", "rb").read()
length = int.from_bytes(data[:8], "little")
header = json.loads(data[8:8 + length])
metadata = header.pop("__metadata__")
tensors = dict(safetensors.deserialize(data))
assert set(tensors) == set(header), set(header) ^ set(tensors)
for name, entry in header.items():
  begin, end = entry["data_offsets"]
  read = tensors[name]
  assert read["dtype"] == entry["dtype"] and read["shape"] == entry["shape"], (name, read)
  assert bytes(read["data"]) == data[8 + length + begin:8 + length + end], name
)";

TEST(SafetensorsPython, LibraryReadsEveryTypeThatWeWrite) {
  const TemporaryFolder folder;
  std::vector<uint8_t> data(16);
  std::iota(data.begin(), data.end(), uint8_t{1});
  std::vector<TensorToWrite> tensors;
  for (int number = 0; number <= static_cast<int>(ElementType::kU64); ++number) {
    const auto type = static_cast<ElementType>(number);
    // Eight elements are whole bytes in every type; of wide types two.
    const uint64_t count = bits_of(type) <= 16 ? 8 : 2;
    tensors.push_back({std::string(to_string(type)),
                       type,
                       {count},
                       std::as_bytes(std::span(data)).first(count * bits_of(type) / 8)});
  }
  value_or_throw(write_safetensors(folder / "ours.safetensors", tensors, {{"format", "pt"}}));
  EXPECT_TRUE(python(folder, kRewrite));
  const auto file = value_or_throw(SafetensorsFile::open(folder / "ours.safetensors"));
  EXPECT_EQ(file.header().tensors.size(), tensors.size());
}

}  // namespace
}  // namespace brigade::checkpoint
