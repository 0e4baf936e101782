// SPDX-License-Identifier: Apache-2.0
/// run: the main function of a program whose ranks are processes.
///
///   void train(collective::World& world);
///   int main() { return launch::run(train); }
///
///   ./program                    one rank
///   ./program --ranks=4          four, started here as children (spawn.h): rank 0 has the console,
///                                the others' output is dropped
///   torchrun --no-python ... ./program, srun ./program, RANK=... ./program: a rank of a launcher
///
/// Each process runs `body` once, in the world of all of them. What it throws ends the world, so
/// that no rank waits for one that failed, and is printed once, with the rank that failed first.
/// Threads: where ranks are started here and OMP_NUM_THREADS is not set, they share the cores.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "parallel/collective/world.h"

namespace brigade::launch {

/// Returns the exit code (exit_code.h): 2 for a --ranks that is no number, or not as many as a
/// launcher says. Takes --ranks=N from this process's command line; all else there is the
/// program's own. Call from main, before the process has other threads.
int run(const std::function<void(collective::World& world)>& body);
/// The same for a command line that children are to be started with; the program's name first.
int run(const std::vector<std::string>& command_line,
        const std::function<void(collective::World& world)>& body);

}  // namespace brigade::launch
