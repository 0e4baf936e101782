// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/tensor_diff.h"

#include <algorithm>
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

double value_of(std::span<const std::byte> element, ElementType type) {
  if (type == ElementType::kF64) {
    double value = 0.0;
    std::memcpy(&value, element.data(), sizeof(value));
    return value;
  }
  float value = 0.0F;
  checkpoint::widen(element, type, {&value, 1});
  return value;
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

/// Adds what the elements of a piece, the first of which is `first` of the tensor, say.
void add_piece(std::span<const std::byte> a,
               std::span<const std::byte> b,
               const checkpoint::SourceTensor& tensor,
               int64_t first,
               TensorDiff& diff) {
  if (std::memcmp(a.data(), b.data(), a.size()) == 0) {
    return;
  }
  const size_t width = checkpoint::bits_of(tensor.type) / 8;
  for (size_t at = 0; at < a.size(); at += width) {
    const auto one_a = a.subspan(at, width);
    const auto one_b = b.subspan(at, width);
    if (std::memcmp(one_a.data(), one_b.data(), width) == 0) {
      continue;
    }
    const double value_a = diff.has_values ? value_of(one_a, tensor.type) : 0.0;
    const double value_b = diff.has_values ? value_of(one_b, tensor.type) : 0.0;
    const double apart = distance(value_a, value_b);
    if (diff.equal_bits || apart > diff.largest) {
      diff.equal_bits = false;
      diff.largest = apart;
      diff.worst_at = index_of(first + static_cast<int64_t>(at / width), tensor.shape);
      diff.worst_a = value_a;
      diff.worst_b = value_b;
    }
    ++diff.differing;
  }
}

sharding::Box whole(const sharding::Shape& shape) {
  sharding::Box box;
  for (const int64_t size : shape) {
    box.dims.push_back({0, size});
  }
  return box;
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
  sharding::Box box = whole(tensor.shape);
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
