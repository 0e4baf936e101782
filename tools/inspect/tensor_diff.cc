// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/tensor_diff.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "parallel/base/text.h"
#include "trainer/checkpoint/convert_elements.h"

namespace brigade::inspect {
namespace {

using checkpoint::ElementType;

constexpr uint64_t kPieceBytes = uint64_t{16} << 20;
constexpr size_t kChunk = 4096;  // elements that are made numbers at once

/// The elements in `from` as numbers, of a type that has_values.
void values_of(std::span<const std::byte> from, ElementType type, std::span<double> to) {
  if (type == ElementType::kF64) {
    std::memcpy(to.data(), from.data(), from.size());
    return;
  }
  std::array<float, kChunk> values;
  checkpoint::widen(from, type, std::span(values).first(to.size()));
  std::copy_n(values.begin(), to.size(), to.begin());
}

double distance(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) {
    return 0.0;
  }
  const double difference = std::fabs(a - b);
  return std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
}

sharding::Shape index_of(int64_t element, const sharding::Shape& shape) {
  sharding::Shape index(shape.size());
  for (size_t dim = shape.size(); dim-- > 0;) {
    index[dim] = element % shape[dim];
    element /= shape[dim];
  }
  return index;
}

/// Adds what at most kChunk elements say, the first of which is `first` of the tensor.
void add_chunk(std::span<const std::byte> a,
               std::span<const std::byte> b,
               const checkpoint::SourceTensor& tensor,
               int64_t first,
               TensorDiff& diff) {
  const size_t width = checkpoint::bits_of(tensor.type) / 8;
  const size_t count = a.size() / width;
  std::array<double, kChunk> values_a{};
  std::array<double, kChunk> values_b{};
  if (diff.has_values) {
    values_of(a, tensor.type, std::span(values_a).first(count));
    values_of(b, tensor.type, std::span(values_b).first(count));
  }
  for (size_t i = 0; i < count; ++i) {
    if (std::memcmp(a.data() + i * width, b.data() + i * width, width) == 0) {
      continue;
    }
    const double apart = distance(values_a[i], values_b[i]);
    if (diff.equal_bits || apart > diff.largest) {
      diff.equal_bits = false;
      diff.largest = apart;
      diff.worst_at = index_of(first + static_cast<int64_t>(i), tensor.shape);
      diff.worst_a = values_a[i];
      diff.worst_b = values_b[i];
    }
    ++diff.differing;
  }
}

/// Adds what the elements of a piece say; equal stretches cost a comparison of memory.
void add_piece(std::span<const std::byte> a,
               std::span<const std::byte> b,
               const checkpoint::SourceTensor& tensor,
               int64_t first,
               TensorDiff& diff) {
  const size_t width = checkpoint::bits_of(tensor.type) / 8;
  for (size_t at = 0; at < a.size(); at += kChunk * width) {
    const size_t bytes = std::min(kChunk * width, a.size() - at);
    if (std::memcmp(a.data() + at, b.data() + at, bytes) != 0) {
      add_chunk(a.subspan(at, bytes),
                b.subspan(at, bytes),
                tensor,
                first + static_cast<int64_t>(at / width),
                diff);
    }
  }
}

}  // namespace

Result<TensorDiff> compare(checkpoint::TensorSource& a,
                           checkpoint::TensorSource& b,
                           const std::string& name) {
  const checkpoint::SourceTensor& tensor = a.tensors().find(name)->second;
  if (checkpoint::bits_of(tensor.type) % 8 != 0) {
    return fail(ErrorCode::kData,
                concat("tensor ",
                       name,
                       ": elements of less than a byte are not compared; it is of ",
                       tensor.type));
  }
  TensorDiff diff;
  diff.has_values = checkpoint::is_convertible(tensor.type);
  const uint64_t width = checkpoint::bits_of(tensor.type) / 8;
  sharding::Box box = sharding::whole_box(tensor.shape);
  if (box.element_count() == 0) {
    return diff;
  }
  const int64_t rows = tensor.shape.empty() ? 1 : tensor.shape[0];
  const int64_t row_elements = box.element_count() / rows;
  const uint64_t row_bytes = static_cast<uint64_t>(row_elements) * width;
  const auto piece_rows = static_cast<int64_t>(std::max<uint64_t>(1, kPieceBytes / row_bytes));
  std::vector<std::byte> bytes_a;
  std::vector<std::byte> bytes_b;
  for (int64_t row = 0; row < rows; row += piece_rows) {
    if (!tensor.shape.empty()) {
      box.dims[0] = {row, std::min(rows, row + piece_rows)};
    }
    bytes_a.resize(static_cast<uint64_t>(box.element_count()) * width);
    bytes_b.resize(bytes_a.size());
    const Result<void> read =
        a.read(name, box, bytes_a).and_then([&] { return b.read(name, box, bytes_b); });
    if (!read) {
      return fail(read.error());
    }
    add_piece(bytes_a, bytes_b, tensor, row * row_elements, diff);
  }
  return diff;
}

}  // namespace brigade::inspect
