// SPDX-License-Identifier: Apache-2.0
/// One source, three instruction sets, equal bits.
///
///   BRIGADE_CLONES void add(...) { plain loop }
///
/// BRIGADE_CLONES compiles a function for AVX-512, for AVX2 and for the baseline; the loader picks
/// one. All give the same bits as long as the function says every rounding itself: a*b+c is never
/// contracted (cmake/HouseFlags.cmake) and sums run over a fixed number of lanes (lanes.h), never
/// over "as many as the vector holds".
///
/// Such a function needs a name that the linker sees, so it is never in an anonymous namespace;
/// what it calls should be `inline` and small, as only inlined code follows its instruction set.
#pragma once

#include <string_view>

// Sanitizers instrument the function that the loader calls to choose, before their runtime exists.
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)
#define BRIGADE_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define BRIGADE_CLONES
#endif

namespace brigade::kernels {

/// What BRIGADE_CLONES runs here: "x86-64-v4", "x86-64-v3" or "baseline".
std::string_view instruction_set();

}  // namespace brigade::kernels
