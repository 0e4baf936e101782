// SPDX-License-Identifier: Apache-2.0
/// `brigade convert`: weights between a checkpoint of ours and a Hugging Face folder.
///
///   brigade convert --from=outputs/checkpoint/step-100 --to=my-model
///   brigade convert --from=my-model --to=weights/step-0
///
/// Streams: memory is about that of the largest tensor. Nothing is written outside the target's
/// folder, where the new one is made beside it and renamed.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace brigade::convert {

/// The whole command line. Returns the exit code (trainer/launch/exit_code.h).
int convert(const std::vector<std::string>& command_line, std::ostream& out, std::ostream& err);

}  // namespace brigade::convert
