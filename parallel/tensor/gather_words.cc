// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/gather_words.h"

#include <algorithm>
#include <utility>

#include "parallel/base/result.h"

namespace brigade::tensor {
namespace {

collective::Communicator& everyone(Program& program) {
  mesh::AxisNames names;
  for (const mesh::Axis& axis : program.mesh().axes()) {
    names.push_back(axis.name);
  }
  return program.group(names);  // of all axes in mesh order: member index = rank
}

}  // namespace

std::vector<uint64_t> gather_words(Program& program, std::span<const uint64_t> mine) {
  const size_t ranks = static_cast<size_t>(program.mesh().size());
  std::vector<uint64_t> all(mine.size() * ranks);
  std::copy(mine.begin(), mine.end(), all.begin());  // where this rank is alone, all there is
  if (ranks == 1) {
    return all;
  }
  std::vector<collective::Spans> parts;
  for (size_t rank = 0; rank < ranks; ++rank) {
    parts.push_back(
        {std::as_writable_bytes(std::span(all).subspan(rank * mine.size(), mine.size()))});
  }
  collective::Work work = everyone(program).all_gather({std::as_bytes(mine)}, std::move(parts));
  value_or_throw(work.wait());
  return all;
}

}  // namespace brigade::tensor
