// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/pretty_json.h"

#include <algorithm>

namespace brigade::scaling {
namespace {

using nlohmann::ordered_json;

constexpr size_t kColumns = 100;
constexpr size_t kIndent = 2;

bool is_list_of_scalars(const ordered_json& json) {
  return json.is_array() && std::none_of(json.begin(), json.end(), [](const ordered_json& item) {
           return item.is_structured();
         });
}

/// Everything on one line.
std::string inline_json(const ordered_json& json) {
  if (!json.is_structured()) {
    return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  }
  std::string text(1, json.is_object() ? '{' : '[');
  for (auto item = json.begin(); item != json.end(); ++item) {
    text += item == json.begin() ? "" : ", ";
    text += json.is_object() ? ordered_json(item.key()).dump() + ": " : std::string();
    text += inline_json(*item);
  }
  return text + (json.is_object() ? '}' : ']');
}

void append(const ordered_json& json, size_t indent, std::string& out) {
  const std::string line = inline_json(json);
  if (!json.is_structured() || is_list_of_scalars(json) || indent + line.size() <= kColumns) {
    out += line;
    return;
  }
  out += json.is_object() ? "{\n" : "[\n";
  for (auto item = json.begin(); item != json.end(); ++item) {
    out += item == json.begin() ? "" : ",\n";
    out.append(indent + kIndent, ' ');
    out += json.is_object() ? ordered_json(item.key()).dump() + ": " : std::string();
    append(*item, indent + kIndent, out);
  }
  out += '\n';
  out.append(indent, ' ');
  out += json.is_object() ? '}' : ']';
}

}  // namespace

std::string pretty_json(const ordered_json& json) {
  std::string out;
  append(json, 0, out);
  out += '\n';
  return out;
}

}  // namespace brigade::scaling
