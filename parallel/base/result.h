// SPDX-License-Identifier: Apache-2.0
/// Result<T>: a value, or an Error that says what the caller may do about it.
///
///   Result<Mesh> mesh = Mesh::create({{"data", 4}});
///   if (!mesh) return fail(mesh.error());
///
/// For the world - configuration, files, sockets, peers. A broken invariant of ours is
/// BRIGADE_CHECK's business (check.h). Where a Result cannot travel (inside libtorch's backward,
/// say), the Error is thrown as an Exception and caught at the one place that knows rank, stage and
/// step.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

namespace brigade {

/// What the caller may do, not where it happened.
enum class ErrorCode {
  kUsage,      ///< The user's config or command line asks for something impossible; change it. Exit
               ///< code 2.
  kIo,         ///< A file or folder could not be read or written.
  kData,       ///< A file was read and is not what it should be.
  kType,       ///< Sharding types do not fit together; the text names the operands and `reshard` or
               ///< `shard_map`.
  kMismatch,   ///< Ranks called different collectives, or with different sizes or types. The group
               ///< is dead.
  kPeerLost,   ///< A rank died or left. The group is dead.
  kTimeout,    ///< A deadline passed; the text names who was waited for. The group is dead.
  kAborted,    ///< Another rank failed first; `origin_rank` says which, the text is that rank's.
  kNonFinite,  ///< NaN or infinity in the loss or a gradient.
  kInterrupted,  ///< A signal asked to stop.
  kInternal,     ///< libtorch or a kernel failed in a way that no caller can mend.
};

/// The code's name without the k: "Usage".
std::string_view to_string(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string text;  ///< What was expected, what was found and where; values last. One line unless
                     ///< it is a list.
  int origin_rank =
      -1;  ///< World rank that failed first, -1 when that is this one or ranks play no part.
  std::string_view rule =
      {};  ///< Of kType: which rule was broken (sharding/type_rule.h); lives for
           ///< ever.

  bool operator==(const Error&) const = default;
};

template <class T>
using Result = tl::expected<T, Error>;

/// Makes the failed state of any Result: `return fail(ErrorCode::kIo, "...");`
[[nodiscard]] inline tl::unexpected<Error> fail(ErrorCode code, std::string text) {
  return tl::unexpected<Error>(Error{code, std::move(text), -1});
}
[[nodiscard]] inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

/// An Error on its way through code that can only throw.
class Exception : public std::runtime_error {
 public:
  explicit Exception(Error error) : std::runtime_error(error.text), error_(std::move(error)) {}

  const Error& error() const noexcept { return error_; }

 private:
  Error error_;
};

/// The value, or a throw of Exception.
template <class T>
T value_or_throw(Result<T> result) {
  if (!result) {
    throw Exception(std::move(result.error()));
  }
  if constexpr (!std::is_void_v<T>) {
    return std::move(*result);
  }
}

}  // namespace brigade
