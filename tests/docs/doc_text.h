// SPDX-License-Identifier: Apache-2.0
/// Blocks of a page and pieces of a source, to hold one to the other.
///
/// In the page:    <!-- snippet: name -->      or   <!-- printed: name -->
///                 a fenced block                   a fenced block
/// In the source:  // snippet: name
///                 the same lines, at any indentation
///                 // end
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace brigade::testing {

using Blocks = std::map<std::string, std::string>;

/// Fenced blocks that stand below a comment `<!-- kind: name -->`, by name.
Blocks blocks_of_page(const std::string& path, std::string_view kind);

/// First lines of fenced blocks of a language that stand below no comment.
std::vector<std::string> unnamed_blocks(const std::string& path, std::string_view language);

/// Pieces of a source, without the indentation that all their lines share.
Blocks pieces_of_source(const std::string& path);

}  // namespace brigade::testing
