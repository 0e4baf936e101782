// SPDX-License-Identifier: Apache-2.0
#include "tools/scale/stop_request.h"

namespace brigade::scale {
namespace {

volatile std::sig_atomic_t asked = 0;

// Only the signal that came loses its handler by itself; the next one may be the other.
void note(int) {
  asked = 1;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

}  // namespace

StopRequest::StopRequest() {
  asked = 0;
  struct sigaction action = {};
  action.sa_handler = note;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigaction(SIGINT, &action, &old_interrupt_);
  sigaction(SIGTERM, &action, &old_terminate_);
}

StopRequest::~StopRequest() {
  sigaction(SIGINT, &old_interrupt_, nullptr);
  sigaction(SIGTERM, &old_terminate_, nullptr);
}

bool StopRequest::made() const {
  return asked != 0;
}

}  // namespace brigade::scale
