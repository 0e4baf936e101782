// SPDX-License-Identifier: Apache-2.0
#include "models/decoder/sizes.h"

#include <vector>

#include "parallel/base/text.h"

namespace brigade::decoder {

std::string divisors(int64_t value) {
  std::vector<int64_t> found;
  for (int64_t candidate = 1; candidate <= value; ++candidate) {
    if (value % candidate == 0) {
      found.push_back(candidate);
    }
  }
  return join(found);
}

Result<void> check_at_least_one(std::span<const std::pair<const char*, int64_t>> sizes) {
  for (const auto& [name, size] : sizes) {
    if (size < 1) {
      return fail(ErrorCode::kUsage, concat("model.", name, " must be at least 1, found ", size));
    }
  }
  return {};
}

Result<void> check_heads_divide(int64_t dim, int64_t heads) {
  if (dim % heads == 0) {
    return {};
  }
  return fail(ErrorCode::kUsage,
              concat("model.dim = ",
                     dim,
                     " does not divide into model.n_heads = ",
                     heads,
                     "; n_heads may be ",
                     divisors(dim)));
}

Result<void> check_heads_split(int64_t heads,
                               const char* what,
                               int64_t tensor_ranks,
                               int64_t allowed) {
  if (heads % tensor_ranks == 0) {
    return {};
  }
  return fail(ErrorCode::kUsage,
              concat(heads,
                     " ",
                     what,
                     " cannot be split over tp=",
                     tensor_ranks,
                     "; tp may be ",
                     divisors(allowed)));
}

}  // namespace brigade::decoder
