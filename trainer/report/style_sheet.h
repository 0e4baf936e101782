// SPDX-License-Identifier: Apache-2.0
/// The look of a page: its CSS, with the palette's colours, and the hatchings that drawings use.
/// Thread safety: pure.
#pragma once

#include <string>

namespace brigade::report {

/// Classes of drawings: s0..s7 lines, c0..c8 areas, h0..h10 heat, dot, hollow, line, model,
/// reference, bar, stem, part, span, grid, base, name, strong, cell.
std::string style_sheet();

/// An invisible drawing with the patterns that hatched areas refer to; once in a page.
std::string hatchings();

}  // namespace brigade::report
