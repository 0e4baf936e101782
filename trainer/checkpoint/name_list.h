// SPDX-License-Identifier: Apache-2.0
/// Lists of tensor names in messages: a large model has thousands, a reader wants to see a few.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace brigade::checkpoint {

/// "3 (a, b, c)"; from eleven on the first ten and how many there are more: "12 (a, ..., and 2
/// more)".
std::string name_list(std::span<const std::string> names);

/// That `path` has no tensor `name` among `names`, and which of them is nearest.
std::string no_such_tensor(const std::string& path,
                           std::string_view name,
                           const std::vector<std::string>& names);

/// The same of the keys of a map.
template <class Tensors>
std::string no_such_tensor(const std::string& path, std::string_view name, const Tensors& tensors) {
  std::vector<std::string> names;
  for (const auto& entry : tensors) {
    names.push_back(entry.first);
  }
  return no_such_tensor(path, name, names);
}

}  // namespace brigade::checkpoint
