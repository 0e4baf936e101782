// SPDX-License-Identifier: Apache-2.0
/// How the process treats memory that tensors free.
#pragma once

namespace brigade::loop {

/// Keeps freed memory in the process instead of returning it to the system and faulting it in again
/// a moment later: a step frees and allocates the same blocks over and over. glibc's own thresholds
/// stop adapting at 32 MiB. Call once, early; where the allocator is another, nothing happens.
void keep_freed_memory();

}  // namespace brigade::loop
