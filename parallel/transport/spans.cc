// SPDX-License-Identifier: Apache-2.0
#include "parallel/transport/spans.h"

#include <algorithm>
#include <cstring>

#include "parallel/base/check.h"

namespace brigade::transport {
namespace {

template <class List>
int64_t total(const List& spans) {
  size_t bytes = 0;
  for (const auto& span : spans) {
    bytes += span.size();
  }
  return static_cast<int64_t>(bytes);
}

template <class List>
List cut(const List& spans, int64_t offset, int64_t length) {
  List result;
  size_t skip = static_cast<size_t>(offset);
  size_t left = static_cast<size_t>(length);
  for (const auto& span : spans) {
    if (left == 0) {
      break;
    }
    if (skip >= span.size()) {
      skip -= span.size();
      continue;
    }
    const size_t take = std::min(span.size() - skip, left);
    result.push_back(span.subspan(skip, take));
    skip = 0;
    left -= take;
  }
  BRIGADE_CHECK(left == 0, offset, length, total(spans));
  return result;
}

}  // namespace

int64_t length_of(const Spans& spans) {
  return total(spans);
}

int64_t length_of(const ConstSpans& spans) {
  return total(spans);
}

Spans slice(const Spans& spans, int64_t offset, int64_t length) {
  return cut(spans, offset, length);
}

ConstSpans slice(const ConstSpans& spans, int64_t offset, int64_t length) {
  return cut(spans, offset, length);
}

ConstSpans as_const(const Spans& spans) {
  return {spans.begin(), spans.end()};
}

void copy(const ConstSpans& from, const Spans& to) {
  BRIGADE_CHECK(total(from) == total(to), total(from), total(to));
  size_t piece = 0;
  size_t used = 0;  // of from[piece]
  for (const Span& target : to) {
    size_t filled = 0;
    while (filled < target.size()) {
      const size_t take = std::min(from[piece].size() - used, target.size() - filled);
      if (take > 0 && target.data() + filled != from[piece].data() + used) {
        std::memcpy(target.data() + filled, from[piece].data() + used, take);
      }
      filled += take;
      used += take;
      if (used == from[piece].size()) {
        ++piece;
        used = 0;
      }
    }
  }
}

}  // namespace brigade::transport
