// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/claims.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <ATen/ATen.h>

#include "parallel/base/text.h"
#include "parallel/sharding/named_sharding.h"
#include "parallel/sharding/type_rule.h"
#include "parallel/tensor/boundary.h"
#include "parallel/tensor/buffers.h"
#include "parallel/tensor/gather_words.h"

namespace brigade::tensor {
namespace {

using mesh::AxisNames;
using sharding::AxisState;
using sharding::NamedSharding;
using sharding::PartitionSpec;
using sharding::Shape;
using sharding::TensorType;

constexpr size_t kMostDims = 9;
constexpr size_t kWords = kMostDims + 3;  // sizes, then dtype, number of dims, digest
constexpr size_t kDTypeWord = kMostDims;
constexpr size_t kDimsWord = kMostDims + 1;
constexpr size_t kDigestWord = kMostDims + 2;

[[noreturn]] void refuse(std::string text) {
  refuse_at_boundary(sharding::rule::kFalseClaim, std::move(text));
}

uint64_t digest_of(const at::Tensor& tensor) {
  const at::Tensor values = tensor.detach().cpu().contiguous();
  collective::ConstSpan bytes = bytes_of(values);
  uint64_t digest = 0xcbf29ce484222325U;
  while (!bytes.empty()) {
    uint64_t word = 0;
    const size_t taken = std::min(bytes.size(), sizeof(word));
    std::memcpy(&word, bytes.data(), taken);
    digest = (digest ^ word) * 0xff51afd7ed558ccdU;
    digest ^= digest >> 32;
    bytes = bytes.subspan(taken);
  }
  return digest;
}

/// One result as every rank holds it.
class Held {
 public:
  Held(const std::vector<uint64_t>& words, size_t results, size_t index)
      : words_(words), stride_(results * kWords), offset_(index * kWords) {}

  size_t ranks() const { return words_.size() / stride_; }
  DType dtype(size_t rank) const { return static_cast<DType>(word(rank, kDTypeWord)); }
  uint64_t digest(size_t rank) const { return word(rank, kDigestWord); }
  Shape shape(size_t rank) const {
    Shape sizes;
    for (size_t dim = 0; dim < word(rank, kDimsWord); ++dim) {
      sizes.push_back(static_cast<int64_t>(word(rank, dim)));
    }
    return sizes;
  }
  std::string text(size_t rank) const {
    return concat(dtype(rank), '[', join(shape(rank), ","), ']');
  }

 private:
  uint64_t word(size_t rank, size_t place) const {
    return words_[rank * stride_ + offset_ + place];
  }

  const std::vector<uint64_t>& words_;
  size_t stride_;
  size_t offset_;
};

/// The type whose piece on rank 0 is what rank 0 holds.
TensorType type_from(const mesh::Mesh& mesh, const Held& held, const PartitionSpec& spec) {
  TensorType type{held.dtype(0), held.shape(0), spec};
  for (size_t dim = 0; dim < type.global.size(); ++dim) {
    int64_t whole = 0;
    for (const int64_t rank : mesh.group(0, spec.dim(dim))) {
      const Shape piece = held.shape(static_cast<size_t>(rank));
      whole += dim < piece.size() ? piece[dim] : 0;
    }
    type.global[dim] = whole;
  }
  return type;
}

void expect_pieces(const mesh::Mesh& mesh,
                   const Held& held,
                   const TensorType& type,
                   const std::string& what) {
  const NamedSharding sharding{mesh, type.spec};
  for (size_t rank = 0; rank < held.ranks(); ++rank) {
    const Shape piece = sharding.local_shape(type.global, static_cast<int64_t>(rank));
    if (held.dtype(rank) != type.dtype || held.shape(rank) != piece) {
      refuse(concat(what,
                    " with spec ",
                    type.spec.to_string(),
                    ": rank ",
                    rank,
                    " returned ",
                    held.text(rank),
                    ", expected ",
                    type.dtype,
                    '[',
                    join(piece, ","),
                    "], its piece of ",
                    type.to_string(mesh),
                    " (rank 0 returned ",
                    held.text(0),
                    ')'));
    }
  }
}

/// Ranks whose bits differ from those of the first rank of their line along `axis`.
std::vector<size_t> odd_ranks(const mesh::Mesh& mesh, const Held& held, const std::string& axis) {
  std::vector<size_t> odd;
  for (size_t rank = 0; rank < held.ranks(); ++rank) {
    const AxisNames line{axis};
    const int64_t first = mesh.group(static_cast<int64_t>(rank), line).front();
    if (held.digest(rank) != held.digest(static_cast<size_t>(first))) {
      odd.push_back(rank);
    }
  }
  return odd;
}

void expect_copies(const mesh::Mesh& mesh,
                   const Held& held,
                   const AxisNames& axes,
                   const std::string& claim) {
  for (const std::string& axis : axes) {
    if (const std::vector<size_t> odd = odd_ranks(mesh, held, axis); !odd.empty()) {
      refuse(concat(claim,
                    " equal over \"",
                    axis,
                    "\", but ",
                    odd.size() == 1 ? "rank " : "ranks ",
                    join(odd),
                    odd.size() == 1 ? " holds" : " hold",
                    " other bits than the first rank along \"",
                    axis,
                    "\"; psum or all_gather it, or name the axis in its spec"));
    }
  }
}

/// Axes over which a tensor of this spec is held in equal copies.
AxisNames copied_over(const mesh::Mesh& mesh, const PartitionSpec& spec) {
  AxisNames axes;
  for (const mesh::Axis& axis : mesh.axes()) {
    const AxisState state = spec.state(axis.name);
    if (state == AxisState::kReplicated || state == AxisState::kReduced) {
      axes.push_back(axis.name);
    }
  }
  return axes;
}

void append_words(std::vector<uint64_t>& words, const at::Tensor& tensor, bool compare) {
  const size_t begin = words.size();
  words.resize(begin + kWords);
  std::copy(
      tensor.sizes().begin(), tensor.sizes().end(), words.begin() + static_cast<ptrdiff_t>(begin));
  words[begin + kDTypeWord] = static_cast<uint64_t>(dtype_of(tensor));
  words[begin + kDimsWord] = static_cast<uint64_t>(tensor.dim());
  words[begin + kDigestWord] = compare ? digest_of(tensor) : 0;
}

}  // namespace

std::vector<TensorType> claimed_types(Program& program,
                                      const std::vector<at::Tensor>& results,
                                      const std::vector<PartitionSpec>& specs,
                                      bool compare,
                                      std::string_view where) {
  const mesh::Mesh& mesh = program.mesh();
  std::vector<uint64_t> words;
  for (size_t index = 0; index < results.size(); ++index) {
    if (!results[index].defined() || results[index].dim() > static_cast<int64_t>(kMostDims)) {
      refuse(concat(where, ": output ", index, " is no tensor of at most ", kMostDims, " dims"));
    }
    append_words(words, results[index], compare && mesh.size() > 1);
  }
  const std::vector<uint64_t> all = gather_words(program, words);
  std::vector<TensorType> types;
  for (size_t index = 0; index < results.size(); ++index) {
    const Held held(all, results.size(), index);
    const std::string what = concat(where, ": output ", index);
    const PartitionSpec& spec = specs[index];
    if (Result<void> legal = spec.check(mesh, held.shape(0).size()); !legal) {
      refuse(concat(what, ": ", legal.error().text));
    }
    const TensorType type = type_from(mesh, held, spec);
    expect_pieces(mesh, held, type, what);
    expect_copies(mesh,
                  held,
                  copied_over(mesh, spec),
                  concat(what, " claims with ", spec.to_string(), " to be"));
    types.push_back(type);
  }
  return types;
}

void expect_equal_over(Program& program,
                       const AxisNames& axes,
                       const at::Tensor& tensor,
                       std::string_view what) {
  std::vector<uint64_t> words;
  append_words(words, tensor, true);
  const std::vector<uint64_t> all = gather_words(program, words);
  expect_copies(program.mesh(), Held(all, 1, 0), axes, concat(what, " must be"));
}

}  // namespace brigade::tensor
