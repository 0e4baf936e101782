// SPDX-License-Identifier: Apache-2.0
/// Files of a folder whose names a file told us: nothing outside the folder is ever opened.
#pragma once

#include <string>
#include <string_view>

#include "parallel/base/result.h"

namespace brigade::checkpoint {

/// Whether `name` can only mean an entry of the folder it is looked up in: not empty, no `/`, no
/// NUL byte, neither `.` nor `..`.
bool is_plain_name(std::string_view name);

/// `name` as a message can show it: in quotes, what cannot be printed escaped.
std::string shown_name(std::string_view name);

/// The path of the regular file `name` in `folder`. A symbolic link is followed as long as it stays
/// inside. Nothing is opened.
/// Errors: kData for a name that is not plain, or a link that leaves the folder; kIo when there is
///         no such file, or it is none.
Result<std::string> path_in_folder(const std::string& folder, const std::string& name);

/// All of a file of `folder` that holds text.
/// Errors: as above; kData above 100 MB.
Result<std::string> read_text_file(const std::string& folder, const std::string& name);

}  // namespace brigade::checkpoint
