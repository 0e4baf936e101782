// SPDX-License-Identifier: Apache-2.0
/// BRIGADE_CHECK: an invariant of ours. It holds in every build, and when it does not, that is our
/// bug.
///
///   BRIGADE_CHECK(begin <= end, begin, end);   // prints expression, values, file and line
///
/// A failed check throws CheckFailure. Nothing of ours recovers from one: at the error boundary of
/// a step it becomes an Error (kInternal) that names rank and action, ends the world and the
/// process. Tests assert on it. (The plain name CHECK belongs to libtorch's headers.)
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace brigade {

class CheckFailure : public std::logic_error {
  using std::logic_error::logic_error;
};

[[noreturn]] void check_failed(const char* expression,
                               const char* file,
                               int line,
                               const std::string& values);

/// The values side by side, for the message of a failed check.
template <class... T>
std::string check_values(const T&... values) {
  std::ostringstream out;
  ((out << ' ' << values), ...);
  return out.str();
}

}  // namespace brigade

#define BRIGADE_CHECK(condition, ...)                                            \
  do {                                                                           \
    if (!(condition)) [[unlikely]] {                                             \
      ::brigade::check_failed(                                                   \
          #condition, __FILE__, __LINE__, ::brigade::check_values(__VA_ARGS__)); \
    }                                                                            \
  } while (false)
