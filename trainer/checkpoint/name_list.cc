// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/name_list.h"

#include <algorithm>

#include "parallel/base/text.h"

namespace brigade::checkpoint {

std::string name_list(std::span<const std::string> names) {
  constexpr size_t kShown = 10;
  const std::string first = join(names.first(std::min(kShown, names.size())));
  const std::string rest =
      names.size() > kShown ? concat(", and ", names.size() - kShown, " more") : "";
  return concat(names.size(), " (", first, rest, ")");
}

std::string no_such_tensor(const std::string& path,
                           std::string_view name,
                           const std::vector<std::string>& names) {
  const auto nearest = nearest_name(name, names);
  return concat(path,
                ": no tensor ",
                name,
                " among ",
                names.size(),
                nearest ? concat(" (did you mean ", *nearest, "?)") : std::string());
}

}  // namespace brigade::checkpoint
