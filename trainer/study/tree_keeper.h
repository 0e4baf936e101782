// SPDX-License-Identifier: Apache-2.0
/// The process between a study and a program that it runs: it adopts what the program leaves
/// behind, and ends all of it. A part of process_tree.h.
#pragma once

#include <chrono>
#include <sys/types.h>

namespace brigade::study {

struct KeeperOrders {
  char* const* argv = nullptr;  ///< of the program; the last one is nullptr
  int out = -1;                 ///< descriptors of its standard output and error
  int err = -1;
  int report = -1;   ///< a TreeReport is written here at the end
  pid_t parent = 0;  ///< who asks
  std::chrono::milliseconds grace{0};
};

struct TreeReport {
  int status = 0;  ///< of the program, as waitpid() gives it
  bool orphans = false;
};

/// What a child does right after fork(): starts the program, and ends when nothing of it runs any
/// longer. SIGTERM is the wish to end it: the program's group is told, and killed after grace, with
/// all its descendants; a second one kills at once.
[[noreturn]] void keep_tree(const KeeperOrders& orders);

}  // namespace brigade::study
