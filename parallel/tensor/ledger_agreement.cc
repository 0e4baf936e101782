// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ledger_agreement.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "parallel/base/philox.h"
#include "parallel/base/text.h"

namespace brigade::tensor {
namespace {

/// One group's ledger on one rank, as it travels.
struct Digest {
  uint64_t axes = 0;
  uint64_t entries = 0;
};

uint64_t digest_of(const mesh::AxisNames& axes) {
  return random_stream("ledger group", join(axes, "·"));
}

std::map<mesh::AxisNames, uint64_t> hashes_by_group(const Ledger& ledger) {
  std::map<mesh::AxisNames, Ledger> groups;
  for (const LedgerEntry& entry : ledger.entries()) {
    groups[entry.axes].write(entry);
  }
  std::map<mesh::AxisNames, uint64_t> hashes;
  for (const auto& [axes, group] : groups) {
    hashes[axes] = group.hash();
  }
  return hashes;
}

Result<void> all_gather(collective::Communicator& world,
                        std::span<Digest> mine,
                        std::vector<std::vector<Digest>>& all) {
  std::vector<collective::Spans> parts;
  for (std::vector<Digest>& of_rank : all) {
    parts.push_back({collective::bytes_of(std::span<Digest>(of_rank))});
  }
  return world.all_gather({collective::bytes_of(mine)}, std::move(parts)).wait();
}

uint64_t found(const std::vector<Digest>& digests, uint64_t axes) {
  const auto digest = std::find_if(
      digests.begin(), digests.end(), [&](const Digest& one) { return one.axes == axes; });
  return digest == digests.end() ? 0 : digest->entries;
}

/// Every member of this rank's groups must have what this rank has.
Result<void> compare(const Program& program, const std::vector<std::vector<Digest>>& all) {
  const std::map<mesh::AxisNames, uint64_t> own = hashes_by_group(program.ledger());
  for (const auto& [axes, hash] : own) {
    std::vector<int64_t> others;
    for (const int64_t member : program.mesh().group(program.rank(), axes)) {
      if (found(all[static_cast<size_t>(member)], digest_of(axes)) != hash) {
        others.push_back(member);
      }
    }
    if (!others.empty()) {
      const std::vector<LedgerEntry>& entries = program.ledger().entries();
      const int64_t count =
          std::count_if(entries.begin(), entries.end(), [&](const LedgerEntry& entry) {
            return entry.axes == axes;
          });
      return fail(ErrorCode::kMismatch,
                  concat("ranks ran different programs: the ledger of group ",
                         join(axes, "·"),
                         " of rank ",
                         program.rank(),
                         " (",
                         count,
                         " collectives) differs from that of ",
                         others.size() == 1 ? "rank " : "ranks ",
                         join(others)));
    }
  }
  return {};
}

}  // namespace

Result<void> agree_on_ledgers(Program& program) {
  const int64_t ranks = program.mesh().size();
  if (ranks == 1) {
    return {};
  }
  std::vector<Digest> mine;
  for (const auto& [axes, hash] : hashes_by_group(program.ledger())) {
    mine.push_back({digest_of(axes), hash});
  }
  mesh::AxisNames all_axes;
  for (const mesh::Axis& axis : program.mesh().axes()) {
    all_axes.push_back(axis.name);
  }
  collective::Communicator& world = program.group(all_axes);
  std::array<Digest, 1> count = {{{0, mine.size()}}};
  std::vector<std::vector<Digest>> counts(static_cast<size_t>(ranks), std::vector<Digest>(1));
  if (Result<void> told = all_gather(world, count, counts); !told) {
    return told;
  }
  std::vector<std::vector<Digest>> digests;
  for (const std::vector<Digest>& of_rank : counts) {
    digests.emplace_back(of_rank[0].entries);
  }
  if (Result<void> told = all_gather(world, mine, digests); !told) {
    return told;
  }
  // Rank-wise the same comparison may pass on one rank and fail on another; all must hear of it.
  const Result<void> equal = compare(program, digests);
  std::array<int64_t, 1> differing = {equal ? 0 : 1};
  if (Result<void> told = world
                              .all_reduce({collective::bytes_of(std::span<int64_t>(differing))},
                                          DType::kInt64,
                                          collective::ReduceOp::kSum)
                              .wait();
      !told) {
    return told;
  }
  if (equal && differing[0] > 0) {
    return fail(ErrorCode::kMismatch,
                concat("ranks ran different programs: the ledgers of ",
                       differing[0],
                       " other ranks differ within their groups"));
  }
  return equal;
}

}  // namespace brigade::tensor
