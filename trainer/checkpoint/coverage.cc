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

int64_t volume(const Box& box, size_t first_dim) {
  int64_t elements = 1;
  for (size_t dim = first_dim; dim < box.dims.size(); ++dim) {
    elements *= box.dims[dim].size();
  }
  return elements;
}

/// A part of `whole` from `dim` on that none of `boxes` holds; they do not overlap, and leave one.
/// The dims before are the caller's.
Box hole(const std::vector<const Box*>& boxes, size_t dim, Box whole) {
  std::vector<int64_t> cuts = {whole.dims[dim].begin, whole.dims[dim].end};
  for (const Box* box : boxes) {
    cuts.insert(cuts.end(), {box->dims[dim].begin, box->dims[dim].end});
  }
  std::sort(cuts.begin(), cuts.end());
  const int64_t wanted = volume(whole, dim + 1);
  for (size_t i = 1; i < cuts.size(); ++i) {
    std::vector<const Box*> slice;
    int64_t held = 0;
    for (const Box* box : boxes) {
      if (box->dims[dim].begin <= cuts[i - 1] && cuts[i] <= box->dims[dim].end) {
        slice.push_back(box);
        held += volume(*box, dim + 1);
      }
    }
    if (cuts[i - 1] < cuts[i] && held < wanted) {
      whole.dims[dim] = {cuts[i - 1], cuts[i]};
      return slice.empty() ? whole : hole(slice, dim + 1, whole);
    }
  }
  return whole;
}

Result<void> check(const std::string& name, const ManifestTensor& tensor) {
  std::vector<const Box*> boxes;
  for (const ManifestBox& box : tensor.boxes) {
    if (box.box.element_count() > 0) {
      boxes.push_back(&box.box);
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
  // Only now is the sum known to be within the tensor.
  int64_t elements = 0;
  for (const Box* box : boxes) {
    elements += box->element_count();
  }
  const int64_t wanted = sharding::element_count(tensor.shape);
  if (elements != wanted) {
    const Box all = sharding::whole_box(tensor.shape);
    return fail(ErrorCode::kData,
                concat("boxes of tensor ",
                       name,
                       " leave a hole: none holds ",
                       to_string(boxes.empty() ? all : hole(boxes, 0, all)),
                       "; ",
                       elements,
                       " of ",
                       wanted,
                       " elements are there"));
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
