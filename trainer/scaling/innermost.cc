// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/innermost.h"

#include <algorithm>
#include <utility>

namespace brigade::scaling {
namespace {

/// Writes the holds one behind the other, as time goes on.
class Sweep {
 public:
  explicit Sweep(int64_t begin_ns) : at_ns_(begin_ns) {}

  void open(Hold hold) {
    close_until(hold.begin_ns);
    write_until(hold.begin_ns);
    if (!open_.empty()) {
      hold.end_ns = std::min(hold.end_ns, open_.back().end_ns);
    }
    open_.push_back(hold);
  }

  std::vector<Hold> finish(int64_t end_ns) {
    close_until(end_ns);
    write_until(end_ns);
    return std::move(written_);
  }

 private:
  void close_until(int64_t ns) {
    while (!open_.empty() && open_.back().end_ns <= ns) {
      write_until(open_.back().end_ns);
      open_.pop_back();
    }
  }

  /// The innermost of those that are open held the time up to `ns`.
  void write_until(int64_t ns) {
    if (ns <= at_ns_) {
      return;
    }
    const size_t owner = open_.empty() ? Hold::kNobody : open_.back().owner;
    if (!written_.empty() && written_.back().owner == owner) {
      written_.back().end_ns = ns;
    } else {
      written_.push_back({owner, at_ns_, ns});
    }
    at_ns_ = ns;
  }

  int64_t at_ns_;
  std::vector<Hold> open_;  // the innermost last
  std::vector<Hold> written_;
};

}  // namespace

std::vector<Hold> innermost(std::vector<Hold> nested, int64_t begin_ns, int64_t end_ns) {
  for (Hold& hold : nested) {
    hold.begin_ns = std::clamp(hold.begin_ns, begin_ns, end_ns);
    hold.end_ns = std::clamp(hold.end_ns, begin_ns, end_ns);
  }
  std::erase_if(nested, [](const Hold& hold) { return hold.begin_ns >= hold.end_ns; });
  std::ranges::reverse(nested);  // so that of equal ones the first is opened last
  std::ranges::stable_sort(nested, [](const Hold& a, const Hold& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
  });
  Sweep sweep(begin_ns);
  for (const Hold& hold : nested) {
    sweep.open(hold);
  }
  return sweep.finish(end_ns);
}

}  // namespace brigade::scaling
