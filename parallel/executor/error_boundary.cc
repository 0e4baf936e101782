// SPDX-License-Identifier: Apache-2.0
#include "parallel/executor/error_boundary.h"

#include <exception>
#include <utility>

#include <c10/util/Exception.h>

#include "parallel/base/text.h"

namespace brigade::executor {

Result<void> catch_errors(int64_t rank,
                          const std::string& what,
                          const std::function<void()>& body) {
  Error error;
  try {
    body();
    return {};
  } catch (const Exception& exception) {
    error = exception.error();
  } catch (const c10::Error& exception) {
    // what() would append a backtrace of many lines.
    error.text = exception.what_without_backtrace();
  } catch (const std::exception& exception) {
    error.text = exception.what();
  }
  if (error.origin_rank < 0 || error.origin_rank == rank) {
    error.text = concat("rank ", rank, ", ", what, ": ", error.text);
  }
  return fail(std::move(error));
}

}  // namespace brigade::executor
