// SPDX-License-Identifier: Apache-2.0
// Whether boxes cover their tensor: as many elements as it has, and no two boxes that share one.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "parallel/base/text.h"
#include "trainer/checkpoint/manifest.h"

namespace brigade::checkpoint {
namespace {

using sharding::Box;

/// Two of `boxes`, equal in the dims before `dim`, that share an element. Along each dim boxes that
/// touch the same slice are compared further; those of a grid fall apart at once.
std::optional<std::pair<const Box*, const Box*>> overlap(std::vector<const Box*> boxes,
                                                         size_t dim) {
  if (boxes.size() < 2) {
    return std::nullopt;
  }
  if (dim == boxes.front()->dims.size()) {
    return std::pair(boxes[0], boxes[1]);
  }
  std::sort(boxes.begin(), boxes.end(), [dim](const Box* a, const Box* b) {
    return a->dims[dim].begin < b->dims[dim].begin;
  });
  std::vector<const Box*> slice;  // that the sweep is in
  for (size_t i = 0; i < boxes.size();) {
    const int64_t at = boxes[i]->dims[dim].begin;
    std::erase_if(slice, [&](const Box* box) { return box->dims[dim].end <= at; });
    const bool had_some = !slice.empty();
    const size_t before = slice.size();
    for (; i < boxes.size() && boxes[i]->dims[dim].begin == at; ++i) {
      slice.push_back(boxes[i]);
    }
    if (had_some || slice.size() - before > 1) {
      if (const auto found = overlap(slice, dim + 1)) {
        return found;
      }
    }
  }
  return std::nullopt;
}

Result<void> check(const std::string& name, const ManifestTensor& tensor) {
  std::vector<const Box*> boxes;
  int64_t elements = 0;
  for (const ManifestBox& box : tensor.boxes) {
    if (box.box.element_count() > 0) {
      boxes.push_back(&box.box);
      elements += box.box.element_count();
    }
  }
  if (const auto found = overlap(boxes, 0)) {
    return fail(ErrorCode::kData,
                concat("boxes of tensor ",
                       name,
                       " overlap: ",
                       to_string(*found->first),
                       " and ",
                       to_string(*found->second)));
  }
  const int64_t wanted = sharding::element_count(tensor.shape);
  if (elements != wanted) {
    return fail(ErrorCode::kData,
                concat("boxes of tensor ",
                       name,
                       " leave a hole: they hold ",
                       elements,
                       " of its ",
                       wanted,
                       " elements"));
  }
  return {};
}

}  // namespace

Result<void> check_coverage(const Manifest& manifest) {
  for (const auto& [name, tensor] : manifest.tensors) {
    if (Result<void> covered = check(name, tensor); !covered) {
      return covered;
    }
  }
  return {};
}

}  // namespace brigade::checkpoint
