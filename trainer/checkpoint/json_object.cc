// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/json_object.h"

#include <set>
#include <utility>
#include <vector>

#include "parallel/base/text.h"
#include "trainer/checkpoint/folder_entry.h"

namespace brigade::checkpoint {
namespace {

/// Sees a document go by and keeps the first key that comes twice: the DOM would keep its last
/// value in silence.
class DuplicateKeys {
 public:
  bool see(nlohmann::json::parse_event_t event, const nlohmann::json& parsed) {
    using Event = nlohmann::json::parse_event_t;
    if (event == Event::object_start) {
      open_.emplace_back();
    } else if (event == Event::object_end) {
      open_.pop_back();
    } else if (event == Event::key && !open_.back().insert(parsed.get<std::string>()).second) {
      found_ = found_.empty() ? shown_name(parsed.get<std::string>()) : found_;
    }
    return true;
  }

  const std::string& found() const { return found_; }

 private:
  std::vector<std::set<std::string>> open_;
  std::string found_;
};

}  // namespace

Result<nlohmann::json> parse_json_object(std::string_view text, const std::string& name) {
  DuplicateKeys keys;
  try {
    nlohmann::json json = nlohmann::json::parse(
        text, [&keys](int, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
          return keys.see(event, parsed);
        });
    if (!keys.found().empty()) {
      return fail(ErrorCode::kData, concat(name, ": duplicate key ", keys.found()));
    }
    if (!json.is_object()) {
      return fail(ErrorCode::kData, concat(name, ": expected an object; found ", json.type_name()));
    }
    return json;
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::kData, concat(name, " is not JSON: ", error.what()));
  }
}

}  // namespace brigade::checkpoint
