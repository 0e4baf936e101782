// SPDX-License-Identifier: Apache-2.0
/// BRIGADE_MULTIVERSION: compiles a function for several instruction sets; the loader picks the
/// best one that the machine has.
///
///   BRIGADE_MULTIVERSION void scale(float* values, int64_t count, float factor) { ... }
///
/// The function must be a plain one (no template); templates that it calls are inlined into each
/// version when they are marked BRIGADE_INLINE. Element-wise code gives the same bits in every
/// version: contraction is off and nothing is reassociated.
///
/// Expands to nothing where the loader cannot choose: compilers and formats other than GCC on ELF
/// x86-64, and under ThreadSanitizer, whose runtime is not up yet when the choice is made.
#pragma once

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__ELF__) && \
    !defined(__SANITIZE_THREAD__)
#define BRIGADE_MULTIVERSION __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define BRIGADE_MULTIVERSION
#endif

#if defined(__GNUC__)
#define BRIGADE_INLINE __attribute__((always_inline)) inline
#else
#define BRIGADE_INLINE inline
#endif
