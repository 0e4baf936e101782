// SPDX-License-Identifier: Apache-2.0
/// gather_texts: a text of every member, on one of them.
///
///   Result<std::vector<std::string>> records = gather_texts(group, mine, 0);
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "parallel/base/result.h"
#include "parallel/collective/communicator.h"

namespace brigade::collective {

/// By member on `root`, nothing elsewhere. Texts may be empty and of any sizes. Collective.
/// Errors: the communicator's.
/// Cost: an all-gather of 8 bytes, and a message to the root with each text.
Result<std::vector<std::string>> gather_texts(Communicator& group, std::string_view mine, int root);

/// The root's text, on every member; what others pass is not looked at. Collective.
/// Errors: the communicator's.
Result<std::string> broadcast_text(Communicator& group, std::string text, int root);

}  // namespace brigade::collective
