// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/value.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "parallel/base/check.h"
#include "parallel/base/text.h"

namespace brigade::config {
namespace {

std::string quoted(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      out += "\\u00";
      out += kHex[byte / 16];
      out += kHex[byte % 16];
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string number_text(double value) {
  std::array<char, 32> buffer = {};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  std::string text(buffer.data(), end.ptr);
  // TOML reads 1 as an integer and 1e-05 as a float.
  if (text.find_first_of(".en") == std::string::npos) {
    text += ".0";
  }
  return text;
}

bool bare(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c > ' ' && c < 0x7F &&
           std::string_view("\"'\\[]{},#=").find(c) == std::string_view::npos;
  });
}

}  // namespace

std::string_view expected(Kind kind) {
  switch (kind) {
    case Kind::kBool: return "true or false";
    case Kind::kInteger: return "an integer";
    case Kind::kNumber: return "a number";
    case Kind::kString: return "a string";
    case Kind::kStringList: return "a list of strings";
    case Kind::kAnything: return "nothing (leave the key out)";
  }
  BRIGADE_CHECK(false, "unknown kind", static_cast<int>(kind));
}

std::string toml_text(const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) {
    return *flag ? "true" : "false";
  }
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    return std::to_string(*integer);
  }
  if (const auto* number = std::get_if<double>(&value)) {
    return number_text(*number);
  }
  if (const auto* text = std::get_if<std::string>(&value)) {
    return quoted(*text);
  }
  std::vector<std::string> items;
  for (const std::string& item : std::get<std::vector<std::string>>(value)) {
    items.push_back(quoted(item));
  }
  return concat('[', join(items), ']');
}

std::string plain_text(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    return bare(*text) ? *text : toml_text(value);
  }
  const auto* items = std::get_if<std::vector<std::string>>(&value);
  const bool listed =
      items != nullptr && !items->empty() &&
      std::all_of(items->begin(), items->end(), [](const std::string& item) { return bare(item); });
  return listed ? join(*items, ",") : toml_text(value);
}

bool is_on(const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) {
    return *flag;
  }
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    return *integer > 1;
  }
  if (const auto* number = std::get_if<double>(&value)) {
    return *number > 1.0;
  }
  if (const auto* text = std::get_if<std::string>(&value)) {
    return !text->empty() && *text != "none";
  }
  return !std::get<std::vector<std::string>>(value).empty();
}

}  // namespace brigade::config
