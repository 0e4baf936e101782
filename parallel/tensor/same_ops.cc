// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/same_ops.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "parallel/base/text.h"
#include "parallel/tensor/gather_words.h"

namespace brigade::tensor {
namespace {

using Ops = std::span<const TracedOp* const>;

constexpr size_t kTextWords = 64;  // what is longer is cut

uint64_t hash_of(Ops ops) {
  uint64_t hash = 0xcbf29ce484222325U;
  for (const TracedOp* op : ops) {
    hash = (hash ^ op->hash) * 0x100000001b3U;
    hash ^= hash >> 29;
  }
  return hash;
}

/// Every rank's hashes of ops, padded with zeros to the longest list; the first place where not all
/// are equal.
size_t first_difference(Program& program, Ops ops, size_t longest) {
  std::vector<uint64_t> mine(longest);
  std::transform(ops.begin(), ops.end(), mine.begin(), [](const TracedOp* op) { return op->hash; });
  const std::vector<uint64_t> all = gather_words(program, mine);
  for (size_t place = 0; place < longest; ++place) {
    for (size_t at = place + longest; at < all.size(); at += longest) {
      if (all[at] != all[place]) {
        return place;
      }
    }
  }
  return longest;
}

/// What every rank ran at `place`.
std::vector<std::string> texts_at(Program& program, Ops ops, size_t place) {
  std::array<char, kTextWords * sizeof(uint64_t)> text{};
  const std::string mine = place < ops.size() ? ops[place]->text : "nothing more";
  std::copy_n(mine.begin(), std::min(mine.size(), text.size() - 1), text.begin());
  std::array<uint64_t, kTextWords> words{};
  std::memcpy(words.data(), text.data(), text.size());
  const std::vector<uint64_t> all = gather_words(program, words);
  std::vector<std::string> texts;
  for (size_t at = 0; at < all.size(); at += kTextWords) {
    std::memcpy(text.data(), &all[at], text.size());
    texts.emplace_back(text.data());
  }
  return texts;
}

std::string ranks_text(const std::vector<size_t>& ranks) {
  return concat(ranks.size() == 1 ? "rank " : "ranks ", join(ranks));
}

/// "ranks 0, 2 ran add ..., rank 1 ran mul ...", in the order of the lowest ranks.
std::string who_ran_what(const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, std::vector<size_t>>> sides;
  for (size_t rank = 0; rank < texts.size(); ++rank) {
    const auto side = std::find_if(
        sides.begin(), sides.end(), [&](const auto& known) { return known.first == texts[rank]; });
    if (side != sides.end()) {
      side->second.push_back(rank);
    } else {
      sides.push_back({texts[rank], {rank}});
    }
  }
  std::vector<std::string> parts;
  for (const auto& [text, ranks] : sides) {
    parts.push_back(concat(ranks_text(ranks), " ran ", text));
  }
  return join(parts, "; ");
}

}  // namespace

void expect_same_ops(Program& program, Ops ops, std::string_view where) {
  if (program.mesh().size() == 1) {
    return;
  }
  const std::array<uint64_t, 2> mine{ops.size(), hash_of(ops)};
  const std::vector<uint64_t> all = gather_words(program, mine);
  size_t longest = 0;
  bool same = true;
  for (size_t at = 0; at < all.size(); at += mine.size()) {
    longest = std::max(longest, static_cast<size_t>(all[at]));
    same = same && all[at] == all[0] && all[at + 1] == all[1];
  }
  if (same) {
    return;
  }
  const size_t place = first_difference(program, ops, longest);
  throw Exception({ErrorCode::kMismatch,
                   concat(where,
                          ": a branch was not taken alike on all ranks: at op ",
                          place,
                          ' ',
                          who_ran_what(texts_at(program, ops, place)))});
}

}  // namespace brigade::tensor
