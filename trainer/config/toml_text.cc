// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/toml_text.h"

#include <algorithm>
#include <set>
#include <vector>

#include "parallel/base/text.h"

namespace brigade::config {
namespace {

using Lines = std::vector<std::string>;

Lines split_lines(std::string_view text) {
  Lines lines;
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

bool opens_table(const std::string& line) {
  const size_t first = line.find_first_not_of(" \t");
  return first != std::string::npos && line[first] == '[';
}

/// The parser's words without its own grammar: "Error while parsing value: x" -> "x".
std::string parser_words(std::string_view description) {
  constexpr std::string_view kNoise = "Error while parsing ";
  if (description.substr(0, kNoise.size()) == kNoise) {
    description.remove_prefix(kNoise.size());
  }
  return std::string(description);
}

/// The first 'name' in quotes, after "cannot redefine existing".
std::string redefined_name(const std::string& words) {
  const size_t begin = words.find('\'');
  const size_t end = words.rfind('\'');
  return begin == std::string::npos || end == begin ? "" : words.substr(begin + 1, end - begin - 1);
}

/// Parses, and after each error blanks the line (for a repeated table: all of its lines) and tries
/// again, so that one mistake does not hide the next.
class Recovery {
 public:
  Recovery(std::string_view text, std::string name, Problems& problems)
      : lines_(split_lines(text)), name_(std::move(name)), problems_(problems) {}

  std::optional<toml::table> parse() {
    constexpr int kMostErrors = 50;
    for (int round = 0; round < kMostErrors; ++round) {
      const std::string text = join(lines_, "\n");
      try {
        return toml::parse(std::string_view(text), std::string_view(name_));
      } catch (const toml::parse_error& error) {
        if (!report_and_blank(error)) {
          return std::nullopt;
        }
      }
    }
    return std::nullopt;
  }

 private:
  bool report_and_blank(const toml::parse_error& error) {
    const auto line = static_cast<int64_t>(error.source().begin.line);
    const std::string words = parser_words(error.description());
    const std::string repeated =
        words.find("cannot redefine") == std::string::npos ? "" : redefined_name(words);
    int64_t column = static_cast<int64_t>(error.source().begin.column);
    const auto index = static_cast<size_t>(std::max<int64_t>(line, 1) - 1);
    const bool known_line = index < lines_.size();
    if (known_line && !repeated.empty()) {
      column = static_cast<int64_t>(lines_[index].find_first_not_of(" \t")) + 1;
    }
    problems_.add(in_file(name_, line, column), repeated.empty() ? words : duplicate_text(index));
    if (!known_line || !blanked_.insert(index).second) {
      return false;
    }
    const bool table = !repeated.empty() && opens_table(lines_[index]);
    lines_[index].clear();
    for (size_t next = index + 1; table && next < lines_.size() && !opens_table(lines_[next]);
         ++next) {
      lines_[next].clear();
    }
    return true;
  }

  std::string duplicate_text(size_t index) const {
    const std::string& line = lines_[index];
    if (opens_table(line)) {
      const size_t begin = line.find('[');
      const std::string header = line.substr(begin, line.find(']') + 1 - begin);
      return concat("duplicate table ", header, "; join its keys with the first one's");
    }
    const size_t begin = line.find_first_not_of(" \t");
    const std::string key = line.substr(begin, line.find_first_of(" \t=", begin) - begin);
    // The first of the two: nearest earlier line that begins alike.
    for (size_t first = index; first-- > 0 && !opens_table(lines_[first]);) {
      const size_t at = lines_[first].find_first_not_of(" \t");
      if (at != std::string::npos && lines_[first].compare(at, key.size(), key) == 0) {
        return concat("duplicate key `", key, "`; the first is on line ", first + 1);
      }
    }
    return concat("duplicate key `", key, '`');
  }

  Lines lines_;
  std::string name_;
  Problems& problems_;
  std::set<size_t> blanked_;
};

}  // namespace

std::optional<toml::table> parse_toml(std::string_view text,
                                      const std::string& name,
                                      Problems& problems) {
  return Recovery(text, name, problems).parse();
}

}  // namespace brigade::config
