// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/box_runs.h"

#include <cstddef>
#include <vector>

#include "parallel/base/check.h"

namespace brigade::checkpoint {
namespace {

using sharding::Box;

/// Bytes from one element to the next along each dim of a box.
std::vector<uint64_t> strides_of(const Box& box, uint64_t element) {
  std::vector<uint64_t> strides(box.dims.size());
  for (size_t dim = box.dims.size(); dim-- > 0;) {
    strides[dim] = element;
    element *= static_cast<uint64_t>(box.dims[dim].size());
  }
  return strides;
}

class Walk {
 public:
  Walk(const Box& source,
       const Box& target,
       uint64_t element,
       const std::function<Result<void>(const Run&)>& visit)
      : source_(source),
        target_(target),
        common_(intersect(source, target)),
        from_(strides_of(source, element)),
        to_(strides_of(target, element)),
        run_bytes_(element),
        visit_(visit) {
    // Behind the last dim of which one of the boxes has more than what they share, all is one run.
    bool whole = true;
    for (size_t dim = common_.dims.size(); dim-- > 0 && whole;) {
      outer_ = dim;
      run_bytes_ *= extent(dim);
      whole = common_.dims[dim] == source_.dims[dim] && common_.dims[dim] == target_.dims[dim];
    }
  }

  Result<void> run() {
    return common_.element_count() == 0 ? Result<void>() : go(0, {0, 0, run_bytes_});
  }

 private:
  uint64_t extent(size_t dim) const { return static_cast<uint64_t>(common_.dims[dim].size()); }

  /// Moves a run to element `i` of what is shared of a dim.
  Run at(Run run, size_t dim, uint64_t i) const {
    const int64_t first = common_.dims[dim].begin;
    run.from += (static_cast<uint64_t>(first - source_.dims[dim].begin) + i) * from_[dim];
    run.to += (static_cast<uint64_t>(first - target_.dims[dim].begin) + i) * to_[dim];
    return run;
  }

  Result<void> go(size_t dim, const Run& run) {
    if (dim == outer_) {
      return visit_(common_.dims.empty() ? run : at(run, dim, 0));
    }
    for (uint64_t i = 0; i < extent(dim); ++i) {
      if (Result<void> done = go(dim + 1, at(run, dim, i)); !done) {
        return done;
      }
    }
    return {};
  }

  const Box& source_;
  const Box& target_;
  const Box common_;
  const std::vector<uint64_t> from_;
  const std::vector<uint64_t> to_;
  size_t outer_ = 0;  // the dim of which a run covers what is shared
  uint64_t run_bytes_;
  const std::function<Result<void>(const Run&)>& visit_;
};

}  // namespace

Result<void> for_each_run(const Box& source,
                          const Box& target,
                          uint64_t element,
                          const std::function<Result<void>(const Run&)>& visit) {
  BRIGADE_CHECK(source.dims.size() == target.dims.size(), source.dims.size(), target.dims.size());
  return Walk(source, target, element, visit).run();
}

}  // namespace brigade::checkpoint
