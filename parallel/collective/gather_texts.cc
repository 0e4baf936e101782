// SPDX-License-Identifier: Apache-2.0
#include "parallel/collective/gather_texts.h"

#include <cstdint>
#include <span>

namespace brigade::collective {
namespace {

constexpr Tag kTag = 0x7465787473;

ConstSpan bytes_of_text(std::string_view text) {
  return std::as_bytes(std::span(text));
}

Span bytes_of_text(std::string& text) {
  return std::as_writable_bytes(std::span(text));
}

Result<std::vector<uint64_t>> gather_sizes(Communicator& group, uint64_t mine) {
  std::vector<uint64_t> sizes(static_cast<size_t>(group.size()));
  std::vector<Spans> parts;
  for (uint64_t& size : sizes) {
    parts.push_back({bytes_of(std::span(&size, 1))});
  }
  const std::span<const uint64_t> own(&mine, 1);
  if (Result<void> done = group.all_gather({std::as_bytes(own)}, parts).wait(); !done) {
    return fail(done.error());
  }
  return sizes;
}

}  // namespace

Result<std::vector<std::string>> gather_texts(Communicator& group,
                                              std::string_view mine,
                                              int root) {
  const Result<std::vector<uint64_t>> sizes = gather_sizes(group, mine.size());
  if (!sizes) {
    return fail(sizes.error());
  }
  std::vector<std::string> texts;
  if (group.rank() != root) {
    if (!mine.empty()) {
      if (Result<void> sent = group.send({bytes_of_text(mine)}, root, kTag).wait(); !sent) {
        return fail(sent.error());
      }
    }
    return texts;
  }
  for (int member = 0; member < group.size(); ++member) {
    std::string& text = texts.emplace_back((*sizes)[static_cast<size_t>(member)], '\0');
    if (member == root) {
      text = mine;
    } else if (!text.empty()) {
      if (Result<void> got = group.receive({bytes_of_text(text)}, member, kTag).wait(); !got) {
        return fail(got.error());
      }
    }
  }
  return texts;
}

Result<std::string> broadcast_text(Communicator& group, std::string text, int root) {
  uint64_t size = text.size();
  if (Result<void> told = group.broadcast({bytes_of(std::span(&size, 1))}, root).wait(); !told) {
    return fail(told.error());
  }
  text.resize(size);
  if (Result<void> told = group.broadcast({bytes_of_text(text)}, root).wait(); !told) {
    return fail(told.error());
  }
  return text;
}

}  // namespace brigade::collective
