// SPDX-License-Identifier: Apache-2.0
#include "tests/docs/doc_text.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace brigade::testing {
namespace {

constexpr std::string_view kFence = "```";

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream in(path);
  if (!in) {
    throw std::runtime_error("cannot read " + path);
  }
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

/// "name" of "<before>name<after>"; empty if the line is not of that form.
std::string between(std::string_view line, std::string_view before, std::string_view after) {
  const bool matches = line.size() > before.size() + after.size() && line.starts_with(before) &&
                       line.ends_with(after);
  return matches
             ? std::string(line.substr(before.size(), line.size() - before.size() - after.size()))
             : std::string();
}

/// The lines behind `begin` up to the next fence.
std::string block_at(const std::vector<std::string>& lines, size_t begin) {
  std::string block;
  for (size_t at = begin; at < lines.size() && !lines[at].starts_with(kFence); ++at) {
    block += lines[at] + '\n';
  }
  return block;
}

std::string unindented(const std::vector<std::string>& lines) {
  size_t shared = std::string::npos;
  for (const std::string& line : lines) {
    if (!line.empty()) {
      shared = std::min(shared, line.find_first_not_of(' '));
    }
  }
  std::string text;
  for (const std::string& line : lines) {
    text += (line.empty() ? line : line.substr(shared)) + '\n';
  }
  return text;
}

}  // namespace

Blocks blocks_of_page(const std::string& path, std::string_view kind) {
  const std::vector<std::string> lines = lines_of(path);
  const std::string before = "<!-- " + std::string(kind) + ": ";
  Blocks blocks;
  for (size_t at = 0; at + 1 < lines.size(); ++at) {
    const std::string name = between(lines[at], before, " -->");
    if (!name.empty() && lines[at + 1].starts_with(kFence)) {
      blocks[name] = block_at(lines, at + 2);
    }
  }
  return blocks;
}

std::vector<std::string> unnamed_blocks(const std::string& path, std::string_view language) {
  const std::vector<std::string> lines = lines_of(path);
  const std::string fence = std::string(kFence) + std::string(language);
  std::vector<std::string> unnamed;
  for (size_t at = 0; at + 1 < lines.size(); ++at) {
    if (lines[at] == fence && (at == 0 || !lines[at - 1].starts_with("<!-- "))) {
      unnamed.push_back(lines[at + 1]);
    }
  }
  return unnamed;
}

Blocks pieces_of_source(const std::string& path) {
  Blocks pieces;
  std::string name;
  std::vector<std::string> piece;
  for (const std::string& line : lines_of(path)) {
    const size_t begin = std::min(line.find_first_not_of(' '), line.size());
    const std::string_view text = std::string_view(line).substr(begin);
    if (text == "// end") {
      pieces[name] = unindented(piece);
      name.clear();
    } else if (const std::string opened = between(text, "// snippet: ", ""); !opened.empty()) {
      name = opened;
      piece.clear();
    } else if (!name.empty()) {
      piece.push_back(line);
    }
  }
  return pieces;
}

}  // namespace brigade::testing
