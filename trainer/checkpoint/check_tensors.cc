// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/check_tensors.h"

#include <string>
#include <vector>

#include "parallel/base/text.h"
#include "trainer/checkpoint/name_list.h"

namespace brigade::checkpoint {
namespace {

std::string shape_text(const sharding::Shape& shape) {
  return concat('[', join(shape, ", "), ']');
}

}  // namespace

bool is_optimizer_state(std::string_view name) {
  return name.starts_with("optimizer.");
}

Result<void> check_tensors(const TensorSource& source, const SourceTensors& wanted) {
  std::vector<std::string> missing;
  std::vector<std::string> unexpected;
  std::vector<std::string> shapes;
  for (const auto& [name, tensor] : wanted) {
    const auto found = source.tensors().find(name);
    if (found == source.tensors().end()) {
      missing.push_back(name);
    } else if (found->second.shape != tensor.shape) {
      shapes.push_back(
          concat(name, ' ', shape_text(found->second.shape), " for ", shape_text(tensor.shape)));
    }
  }
  for (const auto& [name, tensor] : source.tensors()) {
    if (!wanted.contains(name) && !is_optimizer_state(name)) {
      unexpected.push_back(name);
    }
  }
  std::vector<std::string> problems;
  const auto add = [&problems](const char* what, const std::vector<std::string>& names) {
    if (!names.empty()) {
      problems.push_back(concat(what, ": ", name_list(names)));
    }
  };
  add("missing parameters", missing);
  add("unexpected parameters", unexpected);
  add("other shapes", shapes);
  if (problems.empty()) {
    return {};
  }
  return fail(ErrorCode::kData, concat(source.path(), ": ", join(problems, "; ")));
}

}  // namespace brigade::checkpoint
