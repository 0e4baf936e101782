// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/layout.h"

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "parallel/base/check.h"

namespace brigade::checkpoint {
namespace {

/// One box of one tensor, and who holds it.
struct Piece {
  size_t tensor = 0;
  uint64_t bytes = 0;
  std::vector<size_t> holders = {};
};

std::vector<Piece> pieces_of(const Holding& tensor, size_t index) {
  std::vector<Piece> pieces;
  std::vector<const sharding::Box*> boxes;
  for (size_t rank = 0; rank < tensor.boxes.size(); ++rank) {
    const std::optional<sharding::Box>& box = tensor.boxes[rank];
    if (!box) {
      continue;
    }
    const auto same = std::find_if(
        boxes.begin(), boxes.end(), [&](const sharding::Box* known) { return *known == *box; });
    const auto at = static_cast<size_t>(same - boxes.begin());
    if (same == boxes.end()) {
      boxes.push_back(&*box);
      pieces.push_back({index, byte_count(tensor.type, box->element_count())});
    }
    pieces[at].holders.push_back(rank);
  }
  return pieces;
}

}  // namespace

std::vector<std::vector<size_t>> assign_writers(std::span<const Holding> tensors, size_t ranks) {
  std::vector<Piece> pieces;
  for (size_t i = 0; i < tensors.size(); ++i) {
    BRIGADE_CHECK(tensors[i].boxes.size() == ranks, tensors[i].name, ranks);
    for (Piece& piece : pieces_of(tensors[i], i)) {
      pieces.push_back(std::move(piece));
    }
  }
  std::stable_sort(pieces.begin(), pieces.end(), [&](const Piece& a, const Piece& b) {
    return std::tie(b.bytes, tensors[a.tensor].name) < std::tie(a.bytes, tensors[b.tensor].name);
  });
  std::vector<uint64_t> given(ranks, 0);
  std::vector<std::vector<size_t>> written(ranks);
  for (const Piece& piece : pieces) {
    const size_t writer =
        *std::min_element(piece.holders.begin(), piece.holders.end(), [&](size_t a, size_t b) {
          return given[a] < given[b];
        });
    given[writer] += piece.bytes;
    written[writer].push_back(piece.tensor);
  }
  for (std::vector<size_t>& tensors_of_rank : written) {
    std::sort(tensors_of_rank.begin(), tensors_of_rank.end());
  }
  return written;
}

}  // namespace brigade::checkpoint
